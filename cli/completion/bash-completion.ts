import type { CompletionNode } from './completion-tree.js'

/** Returns the completion script for bash. It runs no program, so completion is fast. */
export function bashCompletion(programs: readonly string[], nodes: readonly CompletionNode[]): string {
  const places = nodes.filter(({ at }) => at.includes(' ')).map(({ at }) => quoted(at))
  const after = (takes: string): string =>
    nodes
      .flatMap(({ at, flags }) =>
        flags.filter((flag) => flag.takes === takes).map(({ name }) => quoted(`${at} --${name}`)),
      )
      .join(' | ')
  return `_ashlar_complete() {
  local IFS=$' \\t\\n' current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]}
  local at=\${COMP_WORDS[0]##*/} words='' next i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="$at \${COMP_WORDS[i]}"
    case "$next" in
      ${places.join(' | ')}) at=$next ;;
    esac
  done
  case "$at $before" in
    ${after('path') || "''"})
      IFS=$'\\n'
      COMPREPLY=($(compgen -f -- "$current"))
      compopt -o filenames 2>/dev/null
      return 0
      ;;
    ${after('text') || "''"}) return 0 ;;
  esac
  case "$at" in
${nodes.map(({ at, words, flags }) => `    ${quoted(at)}) words=${quoted(offered(words, flags))} ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _ashlar_complete ${programs.join(' ')}
`
}

/** Returns the completion script for zsh, which can load bash completions. */
export function zshCompletion(programs: readonly string[], nodes: readonly CompletionNode[]): string {
  return `autoload -Uz compinit bashcompinit
(( \${+functions[compdef]} )) || compinit
bashcompinit
${bashCompletion(programs, nodes)}`
}

function offered(words: CompletionNode['words'], flags: CompletionNode['flags']): string {
  return [...words.map(({ word }) => word), ...flags.map(({ name }) => `--${name}`)].join(' ')
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
