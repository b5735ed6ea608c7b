/** Options of every call of an encryptor. */
export interface EncryptorOptions {
  readonly signal?: AbortSignal | undefined
  /**
   * Text that the ciphertext is bound to, such as the key of its row. Decrypting then needs the same text. It
   * is not part of the ciphertext. Omitted by default, because other implementations do not send any.
   */
  readonly associatedData?: string | undefined
}

/** Options of `rewrapBatch`. */
export type RewrapOptions = Pick<EncryptorOptions, 'signal'>

/**
 * Protects secrets that must be readable again. `encrypt` writes `<field>_cipher`, `hash` writes
 * `<field>_hash`.
 *
 * A stored hash belongs to exactly one index key and does not name it. To change keys, use two encryptors:
 * look up by the new hash, then by the old one. Every save of the secret moves its row to the new key.
 */
export interface Encryptor {
  /** Returns different text on every call for the same plaintext. */
  encrypt(plaintext: string, options?: EncryptorOptions): Promise<string>
  /** Rejects, with neither plaintext nor key in the error, for anything that `encrypt` has not made. */
  decrypt(ciphertext: string, options?: EncryptorOptions): Promise<string>
  /** Returns the same text for the same plaintext and key: base64 of HMAC-SHA256. */
  hash(plaintext: string, options?: EncryptorOptions): Promise<string>
  /** In the order of the plaintexts, in fewer calls than one by one; all or nothing. */
  encryptBatch?(plaintexts: readonly string[], options?: EncryptorOptions): Promise<string[]>
  /** In the order of the ciphertexts, in fewer calls than one by one; all or nothing. */
  decryptBatch?(ciphertexts: readonly string[], options?: EncryptorOptions): Promise<string[]>
  /**
   * Encrypts ciphertexts with the newest key, in their order; all or nothing. Without it, `rewrapSecrets`
   * decrypts and encrypts.
   */
  rewrapBatch?(ciphertexts: readonly string[], options?: RewrapOptions): Promise<string[]>
  /**
   * Encrypts and decrypts a text, for a readiness check.
   * @throws what they throw
   */
  check?(options?: Pick<EncryptorOptions, 'signal'>): Promise<void>
  /** True for an encryptor that a production server must refuse. */
  readonly development?: boolean
}

/** True if the encryptor is for development only. */
export const isDevEncryptor = (encryptor: Encryptor): boolean => encryptor.development === true
