#compdef torpor

__torpor_complete() {
    local -ar non_empty_completions=("${@:#(|:*)}")
    local -ar empty_completions=("${(M)@:#(|:*)}")
    _describe -V '' non_empty_completions -- empty_completions -P $'\'\''
}

__torpor_custom_complete() {
    local -a completions
    completions=("${(@f)"$("${command_name}" "${@}" "${command_line[]}")"}")
    if []}" -gt 1 ]]; then
        __torpor_complete "${completions[]:0:-1}"
    fi
}

__torpor_cursor_index_in_current_word() {
    if []]; then
        printf 0
    else
        printf %s "${#${(z)LBUFFER}[]}"
    fi
}

_torpor() {
    emulate -RL zsh -G
    setopt extendedglob nullglob numericglobsort
    unsetopt aliases banghist

    local -xr SAP_SHELL=zsh
    local -x SAP_SHELL_VERSION
    SAP_SHELL_VERSION="$(builtin emulate zsh -c 'printf %s "${ZSH_VERSION}"')"
    local -r SAP_SHELL_VERSION

    local context state state_descr line
    local -A opt_args

    local -r command_name="${words[]}"
    local -ar command_line=("${words[]}")
    local -ir current_word_index="$((CURRENT - 1))"

    local -i ret=1
    local -ar arg_specs=(
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
        '(-):'
        '(-)*:'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0
    case "${state}" in
    command)
        local -ar subcommands=(
            'status:'
            'monitor:'
            'visits:'
            'export:'
            'flush:'
            'energy:'
            'clients:List the service'\''s clients, and decide what they may; for administrators.'
            'decode:'
            'replay:Run a recording through the service'\''s engine, at its own time.'
            'simulate:'
            'tune:'
            'optimum:'
            'receiver:Play a board'\''s receiver in real time on a serial line, to try the service with.'
            'board:'
            'doctor:'
            'help:'
        )
        _describe -V subcommand subcommands && ret=0
        ;;
    arg)
        case "${words[]}" in
        status|monitor|visits|export|flush|energy|clients|decode|replay|simulate|tune|optimum|receiver|board|doctor|help)
            "_torpor_${words[]}" && ret=0
            ;;
        esac
        ;;
    esac

    return "${ret}"
}

_torpor_status() {
    local -i ret=1
    local -ar arg_specs=(
        '--socket[]:'
        '--json[]'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_monitor() {
    local -i ret=1
    local -ar arg_specs=(
        '--socket[]:'
        '--location[]'
        '--json[]'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_visits() {
    local -i ret=1
    local -ar arg_specs=(
        '--socket[]:'
        '--json[]'
        '--count[]:'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_export() {
    local -i ret=1
    local -ar ___format=('gpx' 'geojson' 'csv' 'nmea' 'jsonl')
    local -ar arg_specs=(
        '--socket[]:'
        '--format[]:'
        '--json[]'
        '--client[]:'
        '(--output -o)'{--output,-o}'[]:'
        '(--quiet -q)'{--quiet,-q}'[]'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_flush() {
    local -i ret=1
    local -ar arg_specs=(
        '--socket[]:'
        '--json[]'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_energy() {
    local -i ret=1
    local -ar arg_specs=(
        '--socket[]:'
        '--json[]'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_clients() {
    local -i ret=1
    local -ar arg_specs=(
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
        '(-):'
        '(-)*:'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0
    case "${state}" in
    command)
        local -ar subcommands=(
            'list:'
            'allow:'
            'deny:'
            'reduce:'
            'forget:'
        )
        _describe -V subcommand subcommands && ret=0
        ;;
    arg)
        case "${words[]}" in
        list|allow|deny|reduce|forget)
            "_torpor_clients_${words[]}" && ret=0
            ;;
        esac
        ;;
    esac

    return "${ret}"
}

_torpor_clients_list() {
    local -i ret=1
    local -ar arg_specs=(
        '--socket[]:'
        '--json[]'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_clients_allow() {
    local -i ret=1
    local -ar arg_specs=(
        '--socket[]:'
        '--json[]'
        ':'
        '--when-in-use[]'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_clients_deny() {
    local -i ret=1
    local -ar arg_specs=(
        '--socket[]:'
        '--json[]'
        ':'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_clients_reduce() {
    local -i ret=1
    local -ar arg_specs=(
        '--socket[]:'
        '--json[]'
        ':'
        '--undo[]'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_clients_forget() {
    local -i ret=1
    local -ar arg_specs=(
        '--socket[]:'
        '--json[]'
        ':'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_decode() {
    local -i ret=1
    local -ar ___format=('tpv' 'jsonl' 'csv' 'gpx')
    local -ar ___baud=('1200' '2400' '4800' '9600' '19200' '38400' '57600' '115200' '230400' '460800' '500000' '576000' '921600' '1000000' '1152000' '1500000' '2000000' '2500000' '3000000' '3500000' '4000000')
    local -ar arg_specs=(
        '--format[]:'
        '--json[]'
        '(--follow -f)'{--follow,-f}'[]'
        '--baud[]:'
        '--date[]:'
        '--allow-missing-checksum[]'
        '(--output -o)'{--output,-o}'[]:'
        '(--quiet -q)'{--quiet,-q}'[]'
        ':'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_replay() {
    local -i ret=1
    local -ar arg_specs=(
        '--board[]:'
        '--distance[]:'
        '--timeout[]:'
        '--json[]'
        '(--quiet -q)'{--quiet,-q}'[]'
        '--trace[]:'
        '--capacity[]:'
        '--date[]:'
        '--allow-missing-checksum[]'
        ':'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_simulate() {
    local -i ret=1
    local -ar ___scenario=('still' 'walk' 'loop' 'commute' 'drive' 'day')
    local -ar ___service=('standard' 'deferred' 'significant' 'visits' 'live' 'region')
    local -ar ___noise=('none' 'real')
    local -ar ___ttff=('median' 'sampled')
    local -ar arg_specs=(
        '--board[]:'
        '--distance[]:'
        '--timeout[]:'
        '--json[]'
        '(--quiet -q)'{--quiet,-q}'[]'
        '--trace[]:'
        '--report[]:file:_files -g '\''*.html'\'''
        '--battery[]:'
        '--charge[]:'
        '--track[]:file:_files -g '\''*.gpx *.csv'\'''
        '--scenario[]:'
        '--hours[]:'
        '--service[]:'
        '--accuracy[]:'
        '--pause[]'
        '--radius[]:'
        '--motion[]'
        '--noise[]:'
        '--seed[]:'
        '--ttff[]:'
        '--bytes[]:'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_tune() {
    local -i ret=1
    local -ar ___noise=('none' 'real')
    local -ar arg_specs=(
        '--track[]:file:_files -g '\''*.gpx *.csv'\'''
        '--board[]:'
        '--battery[]:'
        '--noise[]:'
        '--seed[]:'
        '--json[]'
        '(--quiet -q)'{--quiet,-q}'[]'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_optimum() {
    local -i ret=1
    local -ar arg_specs=(
        '--track[]:file:_files -g '\''*.gpx *.csv'\'''
        '--accuracy[]:'
        '--board[]:'
        '--gap[]:'
        '--json[]'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_receiver() {
    local -i ret=1
    local -ar ___scenario=('still' 'walk' 'loop' 'commute' 'drive' 'day')
    local -ar ___noise=('none' 'real')
    local -ar arg_specs=(
        '--board[]:'
        '--track[]:file:_files -g '\''*.gpx *.csv'\'''
        '--scenario[]:'
        '--noise[]:'
        '--seed[]:'
        '--link[]:'
        '--pins[]'
        '(--quiet -q)'{--quiet,-q}'[]'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_board() {
    local -i ret=1
    local -ar arg_specs=(
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
        '(-):'
        '(-)*:'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0
    case "${state}" in
    command)
        local -ar subcommands=(
            'list:'
            'show:'
            'check:'
            'new:Ask for a board'\''s figures and write its profile.'
        )
        _describe -V subcommand subcommands && ret=0
        ;;
    arg)
        case "${words[]}" in
        list|show|check|new)
            "_torpor_board_${words[]}" && ret=0
            ;;
        esac
        ;;
    esac

    return "${ret}"
}

_torpor_board_list() {
    local -i ret=1
    local -ar arg_specs=(
        '--json[]'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_board_show() {
    local -i ret=1
    local -ar arg_specs=(
        '--json[]'
        ':'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_board_check() {
    local -i ret=1
    local -ar arg_specs=(
        '--json[]'
        '*:'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_board_new() {
    local -i ret=1
    local -ar arg_specs=(
        '(--output -o)'{--output,-o}'[]:'
        '*--set[]:'
        '(--yes -y)'{--yes,-y}'[]'
        '--force[]'
        ':'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_doctor() {
    local -i ret=1
    local -ar arg_specs=(
        '--board[]:'
        '--line[]:'
        '--state[]:'
        '--no-pins[]'
        '--quick[]'
        '--sleep[]'
        '--timeout[]:'
        '--write[]:file:_files -g '\''*.toml'\'''
        '--force[]'
        '--json[]'
        '--version[]'
        '(-h --help)'{-h,--help}'[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

_torpor_help() {
    local -i ret=1
    local -ar arg_specs=(
        '*:'
        '--version[]'
    )
    _arguments -w -s -S : "${arg_specs[]}" && ret=0

    return "${ret}"
}

if []}" = _torpor ]]; then
    _torpor "${@}"
else
    compdef _torpor torpor
fi
