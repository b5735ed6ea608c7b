/**
 * An invalid option. Code that offers the option under another name, such as a command-line flag, can use
 * that name instead.
 */
export class OptionError extends TypeError {
  constructor(
    readonly option: string,
    readonly why: string,
  ) {
    super(`${option}: ${why}`)
    this.name = 'OptionError'
  }
}
