/** Options of every call of an encryptor. */
export interface EncryptorOptions {
  readonly signal?: AbortSignal | undefined
  /**
   * A string to which the ciphertext is bound, such as the key of its row. Decryption then requires the same
   * string. It is not part of the ciphertext. Omitted by default, because other implementations send none.
   */
  readonly associatedData?: string | undefined
}

/** Options of `rewrapBatch`. */
export type RewrapOptions = Pick<EncryptorOptions, 'signal'>

/**
 * Protects secrets that must be readable again. `encrypt` writes `<field>_cipher`, `hash` writes
 * `<field>_hash`. A stored hash belongs to exactly one index key and does not name it. To change keys, use
 * two encryptors: look up by the new hash, then by the old one. Every save of the secret moves its row to the
 * new key.
 */
export interface Encryptor {
  /** Returns a different string for every call, even for the same plaintext. */
  encrypt(plaintext: string, options?: EncryptorOptions): Promise<string>
  /** Rejects strings that `encrypt` has not produced. The error contains neither plaintext nor key. */
  decrypt(ciphertext: string, options?: EncryptorOptions): Promise<string>
  /** Returns the HMAC-SHA256 in base64, which is the same for the same plaintext and key. */
  hash(plaintext: string, options?: EncryptorOptions): Promise<string>
  /**
   * Encrypts several plaintexts, all or none, with fewer requests than individual calls. Results are in
   * order.
   */
  encryptBatch?(plaintexts: readonly string[], options?: EncryptorOptions): Promise<string[]>
  /**
   * Decrypts several ciphertexts, all or none, with fewer requests than individual calls. Results are in
   * order.
   */
  decryptBatch?(ciphertexts: readonly string[], options?: EncryptorOptions): Promise<string[]>
  /**
   * Re-encrypts ciphertexts with the newest key, all or none. Results are in order. If it is missing,
   * `rewrapSecrets` decrypts and encrypts instead.
   */
  rewrapBatch?(ciphertexts: readonly string[], options?: RewrapOptions): Promise<string[]>
  /**
   * Encrypts and decrypts a string, for a readiness check.
   * @throws the errors of both operations.
   */
  check?(options?: Pick<EncryptorOptions, 'signal'>): Promise<void>
  /** True for an encryptor that a production server must reject. */
  readonly development?: boolean
}

/** Returns true if the encryptor is for development only. */
export const isDevEncryptor = (encryptor: Encryptor): boolean => encryptor.development === true
