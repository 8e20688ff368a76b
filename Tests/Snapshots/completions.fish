function __torpor_should_offer_completions_for_flags_or_options -a expected_commands
    set -l non_repeating_flags_or_options $argv[2..]
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __torpor_parse_tokens
    test "$commands" = "$expected_commands"; and return $non_repeating_flags_or_options_absent
end

function __torpor_should_offer_completions_for_positional -a expected_commands positional_index_comparison expected_positional_index
    set -l non_repeating_flags_or_options
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __torpor_parse_tokens
    test "$commands" = "$expected_commands" -a \( "$positional_index" "$positional_index_comparison" "$expected_positional_index" \)
end

function __torpor_parse_tokens -S
    set -l unparsed_tokens (__torpor_tokens -pc)
    switch $unparsed_tokens[1]
    case 'torpor'
        __torpor_parse_subcommand 0 'version' 'h/help'
        switch $unparsed_tokens[1]
        case 'status'
            __torpor_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
        case 'monitor'
            __torpor_parse_subcommand 0 'socket=' 'location' 'json' 'version' 'h/help'
        case 'visits'
            __torpor_parse_subcommand 0 'socket=' 'json' 'count=' 'version' 'h/help'
        case 'export'
            __torpor_parse_subcommand 0 'socket=' 'format=' 'json' 'client=' 'o/output=' 'q/quiet' 'version' 'h/help'
        case 'flush'
            __torpor_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
        case 'energy'
            __torpor_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
        case 'clients'
            __torpor_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'list'
                __torpor_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
            case 'allow'
                __torpor_parse_subcommand 1 'socket=' 'json' 'when-in-use' 'version' 'h/help'
            case 'deny'
                __torpor_parse_subcommand 1 'socket=' 'json' 'version' 'h/help'
            case 'reduce'
                __torpor_parse_subcommand 1 'socket=' 'json' 'undo' 'version' 'h/help'
            case 'forget'
                __torpor_parse_subcommand 1 'socket=' 'json' 'version' 'h/help'
            end
        case 'decode'
            __torpor_parse_subcommand 1 'format=' 'json' 'f/follow' 'baud=' 'date=' 'allow-missing-checksum' 'o/output=' 'q/quiet' 'version' 'h/help'
        case 'replay'
            __torpor_parse_subcommand 1 'board=' 'distance=' 'timeout=' 'json' 'q/quiet' 'trace=' 'capacity=' 'date=' 'allow-missing-checksum' 'version' 'h/help'
        case 'simulate'
            __torpor_parse_subcommand 0 'board=' 'distance=' 'timeout=' 'json' 'q/quiet' 'trace=' 'report=' 'battery=' 'charge=' 'track=' 'scenario=' 'hours=' 'service=' 'accuracy=' 'pause' 'radius=' 'motion' 'noise=' 'seed=' 'ttff=' 'bytes=' 'version' 'h/help'
        case 'tune'
            __torpor_parse_subcommand 0 'track=+' 'board=' 'battery=' 'noise=' 'seed=' 'json' 'q/quiet' 'version' 'h/help'
        case 'optimum'
            __torpor_parse_subcommand 0 'track=+' 'accuracy=+' 'board=' 'gap=' 'json' 'version' 'h/help'
        case 'receiver'
            __torpor_parse_subcommand 0 'board=' 'track=' 'scenario=' 'noise=' 'seed=' 'link=' 'pins' 'q/quiet' 'version' 'h/help'
        case 'board'
            __torpor_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'list'
                __torpor_parse_subcommand 0 'json' 'version' 'h/help'
            case 'show'
                __torpor_parse_subcommand 1 'json' 'version' 'h/help'
            case 'check'
                __torpor_parse_subcommand -r 1 'json' 'version' 'h/help'
            case 'new'
                __torpor_parse_subcommand 1 'o/output=' 'set=+' 'y/yes' 'force' 'version' 'h/help'
            end
        case 'doctor'
            __torpor_parse_subcommand 0 'board=' 'line=' 'state=' 'no-pins' 'quick' 'sleep' 'timeout=' 'write=' 'force' 'json' 'version' 'h/help'
        case 'help'
            __torpor_parse_subcommand -r 1 'version'
        end
    end
end

function __torpor_tokens
    if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
        commandline --tokens-raw $argv
    else
        commandline -o $argv
    end
end

function __torpor_parse_subcommand -S -a positional_count
    argparse -s r -- $argv
    set -l option_specs $argv[2..]
    set -l is_repeating_positional $_flag_r
    set -el _flag_r
    set -a commands $unparsed_tokens[1]
    set positional_index 0
    while true
        set -e unparsed_tokens[1]
        argparse -sn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null
        set unparsed_tokens $argv
        set positional_index (math $positional_index + 1)
        for non_repeating_flag_or_option in $non_repeating_flags_or_options
            if set -ql "_flag_$(string replace -a - _ -- $non_repeating_flag_or_option)"
                set non_repeating_flags_or_options_absent 1
                break
            end
        end
        test (count $unparsed_tokens) -eq 0 -o \( -z "$is_repeating_positional" -a "$positional_index" -gt "$positional_count" \) && break
    end
end

function __torpor_complete_directories
    set -l token (commandline -t)
    string match -- '*/' $token
    set -l subdirs $token*/
    printf %s\n $subdirs
end

function __torpor_custom_completion
    set -x SAP_SHELL fish
    set -x SAP_SHELL_VERSION $FISH_VERSION
    set -l tokens (__torpor_tokens -p)
    if test -z "$(__torpor_tokens -t)"
        set -l index (count (__torpor_tokens -pc))
        set tokens $tokens[..$index] \'\' $tokens[(math $index + 1)..]
    end
    command $tokens[1] $argv $tokens
end

complete -c 'torpor' -f
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor" -eq 1' -fa 'status'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor" -eq 1' -fa 'monitor'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor" -eq 1' -fa 'visits'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor" -eq 1' -fa 'export'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor" -eq 1' -fa 'flush'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor" -eq 1' -fa 'energy'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor" -eq 1' -fa 'clients'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor" -eq 1' -fa 'decode'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor" -eq 1' -fa 'replay'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor" -eq 1' -fa 'simulate'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor" -eq 1' -fa 'tune'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor" -eq 1' -fa 'optimum'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor" -eq 1' -fa 'receiver'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor" -eq 1' -fa 'board'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor" -eq 1' -fa 'doctor'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor" -eq 1' -fa 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor status" socket' -l 'socket' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor status" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor status" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor status" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor monitor" socket' -l 'socket' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor monitor" location' -l 'location'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor monitor" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor monitor" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor monitor" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor visits" socket' -l 'socket' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor visits" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor visits" count' -l 'count' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor visits" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor visits" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor export" socket' -l 'socket' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor export" format' -l 'format' -rfka 'gpx geojson csv nmea jsonl'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor export" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor export" client' -l 'client' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor export" o output' -l 'output' -s 'o' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor export" q quiet' -l 'quiet' -s 'q'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor export" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor export" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor flush" socket' -l 'socket' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor flush" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor flush" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor flush" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor energy" socket' -l 'socket' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor energy" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor energy" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor energy" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor clients" -eq 1' -fa 'list'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor clients" -eq 1' -fa 'allow'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor clients" -eq 1' -fa 'deny'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor clients" -eq 1' -fa 'reduce'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor clients" -eq 1' -fa 'forget'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients list" socket' -l 'socket' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients list" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients list" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients list" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients allow" socket' -l 'socket' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients allow" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients allow" when-in-use' -l 'when-in-use'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients allow" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients allow" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients deny" socket' -l 'socket' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients deny" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients deny" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients deny" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients reduce" socket' -l 'socket' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients reduce" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients reduce" undo' -l 'undo'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients reduce" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients reduce" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients forget" socket' -l 'socket' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients forget" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients forget" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor clients forget" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor decode" format' -l 'format' -rfka 'tpv jsonl csv gpx'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor decode" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor decode" f follow' -l 'follow' -s 'f'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor decode" baud' -l 'baud' -rfka '1200 2400 4800 9600 19200 38400 57600 115200 230400 460800 500000 576000 921600 1000000 1152000 1500000 2000000 2500000 3000000 3500000 4000000'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor decode" date' -l 'date' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor decode" allow-missing-checksum' -l 'allow-missing-checksum'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor decode" o output' -l 'output' -s 'o' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor decode" q quiet' -l 'quiet' -s 'q'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor decode" -eq 1' -F
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor decode" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor decode" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor replay" board' -l 'board' -rfka '(__torpor_custom_completion ---completion replay -- --board (count (__torpor_tokens -pc)) (__torpor_tokens -tC))'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor replay" distance' -l 'distance' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor replay" timeout' -l 'timeout' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor replay" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor replay" q quiet' -l 'quiet' -s 'q'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor replay" trace' -l 'trace' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor replay" capacity' -l 'capacity' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor replay" date' -l 'date' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor replay" allow-missing-checksum' -l 'allow-missing-checksum'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor replay" -eq 1' -F
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor replay" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor replay" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" board' -l 'board' -rfka '(__torpor_custom_completion ---completion simulate -- --board (count (__torpor_tokens -pc)) (__torpor_tokens -tC))'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" distance' -l 'distance' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" timeout' -l 'timeout' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" q quiet' -l 'quiet' -s 'q'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" trace' -l 'trace' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" report' -l 'report' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'html\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" battery' -l 'battery' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" charge' -l 'charge' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" track' -l 'track' -rfa '(set -l exts \'gpx\' \'csv\';for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.{$exts};printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" scenario' -l 'scenario' -rfka 'still walk loop commute drive day'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" hours' -l 'hours' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" service' -l 'service' -rfka 'standard deferred significant visits live region'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" accuracy' -l 'accuracy' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" pause' -l 'pause'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" radius' -l 'radius' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" motion' -l 'motion'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" noise' -l 'noise' -rfka 'none real'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" seed' -l 'seed' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" ttff' -l 'ttff' -rfka 'median sampled'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" bytes' -l 'bytes' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor simulate" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor tune"' -l 'track' -rfa '(set -l exts \'gpx\' \'csv\';for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.{$exts};printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor tune" board' -l 'board' -rfka '(__torpor_custom_completion ---completion tune -- --board (count (__torpor_tokens -pc)) (__torpor_tokens -tC))'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor tune" battery' -l 'battery' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor tune" noise' -l 'noise' -rfka 'none real'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor tune" seed' -l 'seed' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor tune" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor tune" q quiet' -l 'quiet' -s 'q'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor tune" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor tune" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor optimum"' -l 'track' -rfa '(set -l exts \'gpx\' \'csv\';for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.{$exts};printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor optimum"' -l 'accuracy' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor optimum" board' -l 'board' -rfka '(__torpor_custom_completion ---completion optimum -- --board (count (__torpor_tokens -pc)) (__torpor_tokens -tC))'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor optimum" gap' -l 'gap' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor optimum" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor optimum" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor optimum" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor receiver" board' -l 'board' -rfka '(__torpor_custom_completion ---completion receiver -- --board (count (__torpor_tokens -pc)) (__torpor_tokens -tC))'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor receiver" track' -l 'track' -rfa '(set -l exts \'gpx\' \'csv\';for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.{$exts};printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor receiver" scenario' -l 'scenario' -rfka 'still walk loop commute drive day'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor receiver" noise' -l 'noise' -rfka 'none real'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor receiver" seed' -l 'seed' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor receiver" link' -l 'link' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor receiver" pins' -l 'pins'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor receiver" q quiet' -l 'quiet' -s 'q'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor receiver" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor receiver" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor board" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor board" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor board" -eq 1' -fa 'list'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor board" -eq 1' -fa 'show'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor board" -eq 1' -fa 'check'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor board" -eq 1' -fa 'new'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor board list" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor board list" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor board list" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor board show" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor board show" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor board show" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor board check" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_positional "torpor board check" -ge 1' -F
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor board check" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor board check" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor board new" o output' -l 'output' -s 'o' -rfa '(__torpor_complete_directories)'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor board new"' -l 'set' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor board new" y yes' -l 'yes' -s 'y'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor board new" force' -l 'force'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor board new" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor board new" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor doctor" board' -l 'board' -rfka '(__torpor_custom_completion ---completion doctor -- --board (count (__torpor_tokens -pc)) (__torpor_tokens -tC))'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor doctor" line' -l 'line' -rF
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor doctor" state' -l 'state' -rfa '(__torpor_complete_directories)'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor doctor" no-pins' -l 'no-pins'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor doctor" quick' -l 'quick'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor doctor" sleep' -l 'sleep'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor doctor" timeout' -l 'timeout' -rfka ''
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor doctor" write' -l 'write' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'toml\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor doctor" force' -l 'force'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor doctor" json' -l 'json'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor doctor" version' -l 'version'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor doctor" h help' -s 'h' -l 'help'
complete -c 'torpor' -n '__torpor_should_offer_completions_for_flags_or_options "torpor help" version' -l 'version'
