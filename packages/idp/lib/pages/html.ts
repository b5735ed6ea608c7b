/** Markup that is safe to send. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | undefined | readonly Part[]

/** Returns markup with values. Strings are escaped; only results of `html` are inserted unchanged. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(strings.map((string, index) => string + rendered(parts[index])).join(''))

function rendered(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Html) return part.text
  if (Array.isArray(part)) return part.map(rendered).join('')
  return escaped(String(part as string | number))
}

/** Escapes markup characters, and removes characters that change the text direction. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\0]/g, '\ufffd')
    .replaceAll(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)
