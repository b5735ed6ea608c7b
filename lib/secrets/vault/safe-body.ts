const SHOWN = 1024
const PLAINTEXT_FIELD = /("plaintext"\s*:\s*")[^"]*/gi
// Line breaks and terminal codes would let a server forge log lines.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g

/**
 * A server's response body, made safe for an error: without the given secrets in any spelling that a server
 * would echo, without decrypted values, on one line, at most 1024 characters.
 */
export function safeBody(body: string, secrets: readonly string[]): string {
  const hidden = secrets.filter(Boolean).flatMap(spellings)
  // The longest first: replacing a part of a secret must not split it.
  hidden.sort((a, b) => b.length - a.length)
  let text = body.replace(PLAINTEXT_FIELD, '$1[redacted]')
  for (const secret of hidden) text = text.replaceAll(secret, '[redacted]')
  text = text.replace(CONTROL, ' ').trim()
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

const spellings = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString('base64'),
]
