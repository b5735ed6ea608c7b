import type { CompletionNode } from './completion-tree.js'

/** Returns the completion script for fish, with a description for every word. */
export function fishCompletion(programs: readonly string[], nodes: readonly CompletionNode[]): string {
  const places = nodes.filter(({ at }) => at.includes(' ')).map(({ at }) => quoted(at))
  return `function __ashlar_at
    set -l typed (commandline -opc)
    set -l at (string replace -r '.*/' '' -- $typed[1])
    for word in $typed[2..-1]
        switch "$at $word"
            case ${places.join(' ')}
                set at "$at $word"
        end
    end
    test "$at" = "$argv"
end
${programs.map((program) => `complete -c ${program} -f`).join('\n')}
${nodes.flatMap(linesOf).join('\n')}
`
}

const TAKES = { nothing: '', path: ' -r -F', text: ' -x' } as const

function linesOf({ at, words, flags }: CompletionNode): readonly string[] {
  const [program = ''] = at.split(' ')
  const here = `complete -c ${program} -n ${quoted(`__ashlar_at ${at}`)}`
  return [
    ...words.map(({ word, summary }) => `${here} -a ${quoted(word)}${described(summary)}`),
    ...flags.map(({ name, summary, takes }) => `${here} -l ${name}${TAKES[takes]}${described(summary)}`),
  ]
}

const described = (summary: string): string => (summary === '' ? '' : ` -d ${quoted(summary)}`)

const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
