import { styleText } from 'node:util'

/** Colors for terminals. Without a terminal, with `NO_COLOR` or on a dumb terminal they have no effect. */
export interface Paint {
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly warn: (text: string) => string
  readonly dim: (text: string) => string
  readonly bold: (text: string) => string
}

export function paintFor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv = process.env): Paint {
  const colourful = stream.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb'
  const style =
    (format: Parameters<typeof styleText>[0]) =>
    (text: string): string =>
      colourful ? styleText(format, text, { validateStream: false }) : text
  return {
    good: style('green'),
    bad: style('red'),
    warn: style('yellow'),
    dim: style('dim'),
    bold: style('bold'),
  }
}
