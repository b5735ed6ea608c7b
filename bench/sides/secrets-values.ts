/** The values that both sides use. */
export const DEV_KEY = Buffer.alloc(32, 7)
export const PLAINTEXT = 'a webhook signing secret of some 48 characters..'
