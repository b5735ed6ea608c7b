/**
 * An invalid option. A caller that offers the option by another name, such as a command, can name that one.
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
