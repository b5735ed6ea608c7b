/** An option that means nothing. Whoever offers it by another name, such as a command, can say that one. */
export class OptionError extends TypeError {
  constructor(
    readonly option: string,
    readonly why: string,
  ) {
    super(`${option}: ${why}`)
    this.name = 'OptionError'
  }
}
