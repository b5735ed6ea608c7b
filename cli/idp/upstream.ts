import { Failure } from '../errors/failure.js'

/** The upstream as written. @throws Failure when it is not an http or https URL, or has a password. */
export function httpUpstream(text: string, where: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.username !== undefined && `${url.username}${url.password}` !== '')
    throw new Failure('input', `${where}: remove the user name and password from the upstream`)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return text
  const advice = 'write it with its scheme, such as http://127.0.0.1:8080'
  throw new Failure('input', `${where}: "${text}" is not an http or https URL: ${advice}`)
}
