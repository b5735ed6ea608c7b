/** Markup that is safe to send. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | undefined | readonly Part[]

/** Markup with values in it. Text is escaped; only what `html` made is taken as it is. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(strings.map((string, index) => string + rendered(parts[index])).join(''))

function rendered(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Html) return part.text
  if (Array.isArray(part)) return part.map(rendered).join('')
  return escaped(String(part as string | number))
}

/**
 * The text without anything that markup gives a meaning, and without characters that change the direction of
 * the text around it.
 */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\0]/g, '\ufffd')
    .replaceAll(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)
