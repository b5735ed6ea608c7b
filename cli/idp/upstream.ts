import { Failure } from '../errors/failure.js'

/**
 * Returns the upstream unchanged.
 * @throws Failure if it is not an http or https URL, or if it contains a password.
 */
export function httpUpstream(text: string, where: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.username !== undefined && `${url.username}${url.password}` !== '')
    throw new Failure('input', `${where}: remove the user name and password from the upstream`)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return text
  const advice = 'write it with its scheme, such as http://127.0.0.1:8080'
  throw new Failure('input', `${where}: "${text}" is not an http or https URL: ${advice}`)
}
