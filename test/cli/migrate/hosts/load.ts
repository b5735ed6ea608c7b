/** Makes one call of an image. */
export default async function call(url: string): Promise<void> {
  const response = await fetch(url, { method: 'POST', headers: { connection: 'close' } })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
}
