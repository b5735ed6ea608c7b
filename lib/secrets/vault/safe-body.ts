const SHOWN = 1024
const PLAINTEXT_FIELD = /("plaintext"\s*:\s*")[^"]*/gi
// Line breaks and terminal codes would let a server forge log lines.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g
/**
 * The minimum length of secrets to redact. Shorter ones occur in other words by chance, and redacting these
 * would reveal the secret.
 */
const SHORTEST_SECRET = 8
const META = /[.*+?^${}()|[\]\\]/g

/**
 * Returns a server's response body in a form that is safe for errors: on one line, at most 1024 characters,
 * without decrypted values, and without tokens and secrets in any form that a server would echo. If a secret
 * of fewer than eight characters was sent, the body is omitted.
 */
export function safeBody(body: string, tokens: readonly string[], secrets: readonly string[]): string {
  if (secrets.some((secret) => secret !== '' && secret.length < SHORTEST_SECRET))
    return '(the text is omitted, because a short secret was sent)'
  const hidden = [...tokens, ...secrets].filter(Boolean).flatMap(formsOf)
  // Redact the longest first, because replacing a part of a secret must not split it. Redact in one pass, so
  // that replaced text is not searched again.
  hidden.sort((a, b) => b.length - a.length)
  let text = body.replace(PLAINTEXT_FIELD, '$1[redacted]')
  if (hidden.length > 0)
    text = text.replace(
      new RegExp(hidden.map((form) => form.replace(META, '\\$&')).join('|'), 'g'),
      '[redacted]',
    )
  text = text.replace(CONTROL, ' ').trim()
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

const formsOf = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString('base64'),
]
