#!/bin/bash

__torpor_cursor_index_in_current_word() {
    local remaining="${COMP_LINE}"

    local word
    for word in "${COMP_WORDS[@]::COMP_CWORD}"; do
        remaining="${remaining##*([[:space:]])"${word}"*([[:space:]])}"
    done

    local -ir index="$((COMP_POINT - ${#COMP_LINE} + ${#remaining}))"
    if [[ "${index}" -le 0 ]]; then
        printf 0
    else
        printf %s "${index}"
    fi
}

# positional arguments:
#
# - 1: the current (sub)command's count of positional arguments
#
# required variables:
#
# - repeating_flags: the repeating flags that the current (sub)command can accept
# - non_repeating_flags: the non-repeating flags that the current (sub)command can accept
# - repeating_options: the repeating options that the current (sub)command can accept
# - non_repeating_options: the non-repeating options that the current (sub)command can accept
# - positional_number: value ignored
# - unparsed_words: unparsed words from the current command line
#
# modified variables:
#
# - non_repeating_flags: remove flags for this (sub)command that are already on the command line
# - non_repeating_options: remove options for this (sub)command that are already on the command line
# - positional_number: set to the current positional number
# - unparsed_words: remove all flags, options, and option values for this (sub)command
__torpor_offer_flags_options() {
    local -ir positional_count="${1}"
    positional_number=0

    local was_flag_option_terminator_seen=false
    local is_parsing_option_value=false

    local -ar unparsed_word_indices=("${!unparsed_words[@]}")
    local -i word_index
    for word_index in "${unparsed_word_indices[@]}"; do
        if "${is_parsing_option_value}"; then
            # This word is an option value:
            # Reset marker for next word iff not currently the last word
            [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]] && is_parsing_option_value=false
            unset "unparsed_words[${word_index}]"
            # Do not process this word as a flag or an option
            continue
        fi

        local word="${unparsed_words["${word_index}"]}"
        if ! "${was_flag_option_terminator_seen}"; then
            case "${word}" in
            --)
                unset "unparsed_words[${word_index}]"
                # by itself -- is a flag/option terminator, but if it is the last word, it is the start of a completion
                if [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]]; then
                    was_flag_option_terminator_seen=true
                fi
                continue
                ;;
            -*)
                # ${word} is a flag or an option
                # If ${word} is an option, mark that the next word to be parsed is an option value
                local option
                for option in "${repeating_options[@]}" "${non_repeating_options[@]}"; do
                    [[ "${word}" = "${option}" ]] && is_parsing_option_value=true && break
                done

                # Remove ${word} from ${non_repeating_flags} or ${non_repeating_options} so it isn't offered again
                local not_found=true
                local -i index
                for index in "${!non_repeating_flags[@]}"; do
                    if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                        unset "non_repeating_flags[${index}]"
                        non_repeating_flags=("${non_repeating_flags[@]}")
                        not_found=false
                        break
                    fi
                done
                if "${not_found}"; then
                    for index in "${!non_repeating_flags[@]}"; do
                        if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                            unset "non_repeating_flags[${index}]"
                            non_repeating_flags=("${non_repeating_flags[@]}")
                            break
                        fi
                    done
                fi
                unset "unparsed_words[${word_index}]"
                continue
                ;;
            esac
        fi

        # ${word} is neither a flag, nor an option, nor an option value
        if [[ "${positional_number}" -lt "${positional_count}" || "${positional_count}" -lt 0 ]]; then
            # ${word} is a positional
            ((positional_number++))
            unset "unparsed_words[${word_index}]"
        else
            if [[ -z "${word}" ]]; then
                # Could be completing a flag, option, or subcommand
                positional_number=-1
            else
                # ${word} is a subcommand or invalid, so stop processing this (sub)command
                positional_number=-2
            fi
            break
        fi
    done

    unparsed_words=("${unparsed_words[@]}")

    if\
        ! "${was_flag_option_terminator_seen}"\
        && ! "${is_parsing_option_value}"\
        && [[ ("${cur}" = -* && "${positional_number}" -ge 0) || "${positional_number}" -eq -1 ]]
    then
        COMPREPLY+=($(compgen -W "${repeating_flags[*]} ${non_repeating_flags[*]} ${repeating_options[*]} ${non_repeating_options[*]}" -- "${cur}"))
    fi
}

__torpor_add_completions() {
    local completion
    while IFS='' read -r completion; do
        COMPREPLY+=("${completion}")
    done < <(IFS=$'\n' compgen "${@}" -- "${cur}")
}

__torpor_custom_complete() {
    if [[ -n "${cur}" || -z ${COMP_WORDS[${COMP_CWORD}]} || "${COMP_LINE:${COMP_POINT}:1}" != ' ' ]]; then
        local -ar words=("${COMP_WORDS[@]}")
    else
        local -ar words=("${COMP_WORDS[@]::${COMP_CWORD}}" '' "${COMP_WORDS[@]:${COMP_CWORD}}")
    fi

    "${COMP_WORDS[0]}" "${@}" "${words[@]}"
}

_torpor() {
    local state
    state="$(shopt -p;shopt -po)"
    trap "${state//$'\n'/;}" RETURN
    shopt -s extglob
    set +o history +o posix

    local -xr SAP_SHELL=bash
    local -x SAP_SHELL_VERSION
    SAP_SHELL_VERSION="$(IFS='.';printf %s "${BASH_VERSINFO[*]}")"
    local -r SAP_SHELL_VERSION

    local -r cur="${2}"
    local -r prev="${3}"

    local -i positional_number
    local -a unparsed_words=("${COMP_WORDS[@]:1:${COMP_CWORD}}")

    local -a repeating_flags=()
    local -a non_repeating_flags=(--version -h --help)
    local -a repeating_options=()
    local -a non_repeating_options=()
    __torpor_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    status|monitor|visits|export|flush|energy|clients|decode|replay|simulate|tune|optimum|receiver|board|doctor|help)
        # Offer subcommand argument completions
        "_torpor_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'status monitor visits export flush energy clients decode replay simulate tune optimum receiver board doctor help' -- "${cur}"))
        ;;
    esac
}

_torpor_status() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __torpor_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __torpor_add_completions -f
        return
        ;;
    esac
}

_torpor_monitor() {
    repeating_flags=()
    non_repeating_flags=(--location --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __torpor_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __torpor_add_completions -f
        return
        ;;
    esac
}

_torpor_visits() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket --count)
    __torpor_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __torpor_add_completions -f
        return
        ;;
    '--count')
        return
        ;;
    esac
}

_torpor_export() {
    repeating_flags=()
    non_repeating_flags=(--json --quiet -q --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket --format --client --output -o)
    __torpor_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __torpor_add_completions -f
        return
        ;;
    '--format')
        __torpor_add_completions -W 'gpx'$'\n''geojson'$'\n''csv'$'\n''nmea'$'\n''jsonl'
        return
        ;;
    '--client')
        return
        ;;
    '--output'|'-o')
        __torpor_add_completions -f
        return
        ;;
    esac
}

_torpor_flush() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __torpor_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __torpor_add_completions -f
        return
        ;;
    esac
}

_torpor_energy() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __torpor_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __torpor_add_completions -f
        return
        ;;
    esac
}

_torpor_clients() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __torpor_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    list|allow|deny|reduce|forget)
        # Offer subcommand argument completions
        "_torpor_clients_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'list allow deny reduce forget' -- "${cur}"))
        ;;
    esac
}

_torpor_clients_list() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __torpor_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __torpor_add_completions -f
        return
        ;;
    esac
}

_torpor_clients_allow() {
    repeating_flags=()
    non_repeating_flags=(--json --when-in-use --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __torpor_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __torpor_add_completions -f
        return
        ;;
    esac
}

_torpor_clients_deny() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __torpor_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __torpor_add_completions -f
        return
        ;;
    esac
}

_torpor_clients_reduce() {
    repeating_flags=()
    non_repeating_flags=(--json --undo --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __torpor_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __torpor_add_completions -f
        return
        ;;
    esac
}

_torpor_clients_forget() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __torpor_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __torpor_add_completions -f
        return
        ;;
    esac
}

_torpor_decode() {
    repeating_flags=()
    non_repeating_flags=(--json --follow -f --allow-missing-checksum --quiet -q --version -h --help)
    repeating_options=()
    non_repeating_options=(--format --baud --date --output -o)
    __torpor_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--format')
        __torpor_add_completions -W 'tpv'$'\n''jsonl'$'\n''csv'$'\n''gpx'
        return
        ;;
    '--baud')
        __torpor_add_completions -W '1200'$'\n''2400'$'\n''4800'$'\n''9600'$'\n''19200'$'\n''38400'$'\n''57600'$'\n''115200'$'\n''230400'$'\n''460800'$'\n''500000'$'\n''576000'$'\n''921600'$'\n''1000000'$'\n''1152000'$'\n''1500000'$'\n''2000000'$'\n''2500000'$'\n''3000000'$'\n''3500000'$'\n''4000000'
        return
        ;;
    '--date')
        return
        ;;
    '--output'|'-o')
        __torpor_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __torpor_add_completions -f
        return
        ;;
    esac
}

_torpor_replay() {
    repeating_flags=()
    non_repeating_flags=(--json --quiet -q --allow-missing-checksum --version -h --help)
    repeating_options=()
    non_repeating_options=(--board --distance --timeout --trace --capacity --date)
    __torpor_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--board')
        __torpor_add_completions -W "$(__torpor_custom_complete ---completion replay -- --board "${COMP_CWORD}" "$(__torpor_cursor_index_in_current_word)")"
        return
        ;;
    '--distance')
        return
        ;;
    '--timeout')
        return
        ;;
    '--trace')
        __torpor_add_completions -f
        return
        ;;
    '--capacity')
        return
        ;;
    '--date')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __torpor_add_completions -f
        return
        ;;
    esac
}

_torpor_simulate() {
    repeating_flags=()
    non_repeating_flags=(--json --quiet -q --pause --motion --version -h --help)
    repeating_options=()
    non_repeating_options=(--board --distance --timeout --trace --report --battery --charge --track --scenario --hours --service --accuracy --radius --noise --seed --ttff --bytes)
    __torpor_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--board')
        __torpor_add_completions -W "$(__torpor_custom_complete ---completion simulate -- --board "${COMP_CWORD}" "$(__torpor_cursor_index_in_current_word)")"
        return
        ;;
    '--distance')
        return
        ;;
    '--timeout')
        return
        ;;
    '--trace')
        __torpor_add_completions -f
        return
        ;;
    '--report')
        __torpor_add_completions -o plusdirs -fX '!*.@(html)'
        return
        ;;
    '--battery')
        return
        ;;
    '--charge')
        return
        ;;
    '--track')
        __torpor_add_completions -o plusdirs -fX '!*.@(gpx|csv)'
        return
        ;;
    '--scenario')
        __torpor_add_completions -W 'still'$'\n''walk'$'\n''loop'$'\n''commute'$'\n''drive'$'\n''day'
        return
        ;;
    '--hours')
        return
        ;;
    '--service')
        __torpor_add_completions -W 'standard'$'\n''deferred'$'\n''significant'$'\n''visits'$'\n''live'$'\n''region'
        return
        ;;
    '--accuracy')
        return
        ;;
    '--radius')
        return
        ;;
    '--noise')
        __torpor_add_completions -W 'none'$'\n''real'
        return
        ;;
    '--seed')
        return
        ;;
    '--ttff')
        __torpor_add_completions -W 'median'$'\n''sampled'
        return
        ;;
    '--bytes')
        __torpor_add_completions -f
        return
        ;;
    esac
}

_torpor_tune() {
    repeating_flags=()
    non_repeating_flags=(--json --quiet -q --version -h --help)
    repeating_options=(--track)
    non_repeating_options=(--board --battery --noise --seed)
    __torpor_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--track')
        __torpor_add_completions -o plusdirs -fX '!*.@(gpx|csv)'
        return
        ;;
    '--board')
        __torpor_add_completions -W "$(__torpor_custom_complete ---completion tune -- --board "${COMP_CWORD}" "$(__torpor_cursor_index_in_current_word)")"
        return
        ;;
    '--battery')
        return
        ;;
    '--noise')
        __torpor_add_completions -W 'none'$'\n''real'
        return
        ;;
    '--seed')
        return
        ;;
    esac
}

_torpor_optimum() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(--track --accuracy)
    non_repeating_options=(--board --gap)
    __torpor_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--track')
        __torpor_add_completions -o plusdirs -fX '!*.@(gpx|csv)'
        return
        ;;
    '--accuracy')
        return
        ;;
    '--board')
        __torpor_add_completions -W "$(__torpor_custom_complete ---completion optimum -- --board "${COMP_CWORD}" "$(__torpor_cursor_index_in_current_word)")"
        return
        ;;
    '--gap')
        return
        ;;
    esac
}

_torpor_receiver() {
    repeating_flags=()
    non_repeating_flags=(--pins --quiet -q --version -h --help)
    repeating_options=()
    non_repeating_options=(--board --track --scenario --noise --seed --link)
    __torpor_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--board')
        __torpor_add_completions -W "$(__torpor_custom_complete ---completion receiver -- --board "${COMP_CWORD}" "$(__torpor_cursor_index_in_current_word)")"
        return
        ;;
    '--track')
        __torpor_add_completions -o plusdirs -fX '!*.@(gpx|csv)'
        return
        ;;
    '--scenario')
        __torpor_add_completions -W 'still'$'\n''walk'$'\n''loop'$'\n''commute'$'\n''drive'$'\n''day'
        return
        ;;
    '--noise')
        __torpor_add_completions -W 'none'$'\n''real'
        return
        ;;
    '--seed')
        return
        ;;
    '--link')
        __torpor_add_completions -f
        return
        ;;
    esac
}

_torpor_board() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __torpor_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    list|show|check|new)
        # Offer subcommand argument completions
        "_torpor_board_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'list show check new' -- "${cur}"))
        ;;
    esac
}

_torpor_board_list() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=()
    __torpor_offer_flags_options 0
}

_torpor_board_show() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=()
    __torpor_offer_flags_options 1
}

_torpor_board_check() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=()
    __torpor_offer_flags_options -1

    # Offer positional completions
    case "${positional_number}" in
    *)
        __torpor_add_completions -f
        return
        ;;
    esac
}

_torpor_board_new() {
    repeating_flags=()
    non_repeating_flags=(--yes -y --force --version -h --help)
    repeating_options=(--set)
    non_repeating_options=(--output -o)
    __torpor_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--output'|'-o')
        __torpor_add_completions -d
        return
        ;;
    '--set')
        return
        ;;
    esac
}

_torpor_doctor() {
    repeating_flags=()
    non_repeating_flags=(--no-pins --quick --sleep --force --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--board --line --state --timeout --write)
    __torpor_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--board')
        __torpor_add_completions -W "$(__torpor_custom_complete ---completion doctor -- --board "${COMP_CWORD}" "$(__torpor_cursor_index_in_current_word)")"
        return
        ;;
    '--line')
        __torpor_add_completions -f
        return
        ;;
    '--state')
        __torpor_add_completions -d
        return
        ;;
    '--timeout')
        return
        ;;
    '--write')
        __torpor_add_completions -o plusdirs -fX '!*.@(toml)'
        return
        ;;
    esac
}

_torpor_help() {
    repeating_flags=()
    non_repeating_flags=(--version)
    repeating_options=()
    non_repeating_options=()
    __torpor_offer_flags_options -1
}

complete -o filenames -F _torpor torpor
