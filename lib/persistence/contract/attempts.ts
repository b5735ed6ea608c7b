/**
 * Returns the maximum number of attempts, including the first.
 * @param where - the function whose options they are, such as `transaction()`.
 * @throws RangeError for less than one attempt.
 */
export function attemptsOf(
  { maxAttempts }: { readonly maxAttempts?: number | undefined },
  where: string,
): number | undefined {
  if (maxAttempts !== undefined && !(maxAttempts >= 1))
    throw new RangeError(`${where}: maxAttempts is ${maxAttempts}, but must be a number from 1`)
  return maxAttempts
}
