const NAME = /^[A-Za-z0-9_-]{1,200}$/

/**
 * Returns the name of a relay or consumer.
 *
 * @throws TypeError if the name is invalid.
 */
export function checkedName(name: string): string {
  if (!NAME.test(name))
    throw new TypeError(
      `"${name}" is not a valid name of a relay or consumer: use up to 200 letters, digits, _ and -`,
    )
  return name
}
