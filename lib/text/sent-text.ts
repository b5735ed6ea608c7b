/**
 * Returns a caller's string in quotes, escaped as in JSON and truncated to a number of characters with an
 * ellipsis. Invisible characters are escaped as well.
 */
export const sentText = (text: string, most: number): string => {
  const room = most - 2
  let said = ''
  let cut = ''
  for (const character of text.slice(0, room + 1)) {
    said += JSON.stringify(character)
      .slice(1, -1)
      .replace(/\p{C}|\p{Z}/gu, escaped)
    if (said.length > room) return `"${cut}…"`
    if (said.length < room) cut = said
  }
  return `"${said}"`
}

const escaped = (character: string): string =>
  character === ' '
    ? character
    : [...Array(character.length).keys()]
        .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
        .join('')
