/**
 * What a caller sent, in quotes, as JSON escapes it: at most so many characters. Those that cannot be seen
 * are escaped too. What is longer is cut, with an ellipsis.
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
