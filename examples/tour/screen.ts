/** Prints a tour: what was asked, what came back, and what it shows. */
export class Screen {
  #step = 0

  constructor(private readonly colours: boolean) {}

  title(text: string): void {
    console.log(`\n${this.#paint(1, `── ${text} ${'─'.repeat(Math.max(0, 90 - text.length))}`)}`)
  }

  step(text: string): void {
    console.log(`\n${this.#paint(1, `${++this.#step}. ${text}`)}`)
  }

  asked(text: string): void {
    console.log(this.#paint(36, indent(text, '> ')))
  }

  answered(value: unknown): void {
    console.log(
      indent(
        typeof value === 'string' ? value : JSON.stringify(value, replacer, 1).replace(/\n */g, ' '),
        '< ',
      ),
    )
  }

  /** One line on what the step shows. */
  shows(text: string): void {
    console.log(this.#paint(32, `  → ${text}`))
  }

  say(text: string): void {
    console.log(`  ${text}`)
  }

  #paint(code: number, text: string): string {
    return this.colours ? `\u001b[${code}m${text}\u001b[0m` : text
  }
}

const indent = (text: string, prefix: string) => text.replace(/^/gm, `  ${prefix}`)

const replacer = (name: string, value: unknown): unknown =>
  name === '$typeName' ? undefined : typeof value === 'bigint' ? String(value) : value
