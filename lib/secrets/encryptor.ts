/** What every call to an encryptor may be told. */
export interface EncryptorOptions {
  readonly signal?: AbortSignal | undefined
  /**
   * Text the ciphertext is bound to, such as the key of its row: decrypting then needs the same text. Not kept in the
   * ciphertext and left out by default, because other implementations do not send any.
   */
  readonly associatedData?: string | undefined
}

/**
 * Keeps secrets that must come back out. `encrypt` writes `<field>_cipher`, `hash` writes `<field>_hash`.
 *
 * A stored hash belongs to exactly one index key and does not name it, so two keys can be in use at once: hash with an
 * encryptor for each, look up by the new hash, then by the old one, and every save of the secret moves its row to the new.
 */
export interface Encryptor {
  /** Different text on every call for the same plaintext. */
  encrypt(plaintext: string, options?: EncryptorOptions): Promise<string>
  /** Rejects, with neither plaintext nor key in the error, for anything `encrypt` has not made. */
  decrypt(ciphertext: string, options?: EncryptorOptions): Promise<string>
  /** The same text for the same plaintext and key: base64 of HMAC-SHA256. */
  hash(plaintext: string, options?: EncryptorOptions): Promise<string>
  /** In the order of the plaintexts, in fewer calls than one by one; all or nothing. */
  encryptBatch?(plaintexts: readonly string[], options?: EncryptorOptions): Promise<string[]>
  /** In the order of the ciphertexts, in fewer calls than one by one; all or nothing. */
  decryptBatch?(ciphertexts: readonly string[], options?: EncryptorOptions): Promise<string[]>
  /** True for one that a production server must refuse. */
  readonly development?: boolean
}

/** Whether the encryptor is made for development alone. */
export const isDevEncryptor = (encryptor: Encryptor): boolean => encryptor.development === true
