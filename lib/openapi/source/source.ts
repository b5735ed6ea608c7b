import type { DescField, DescMessage, DescMethod, DescOneof, DescService } from '@bufbuild/protobuf'
import type { UpdateMaskMode } from '../../gateway/transcoding/update-mask-forms.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Comments } from './comments.js'
import type { DeclaredRules } from '../rules/declared-rules.js'

/** A part of the document: an object of JSON. */
export type JsonObject = Readonly<Record<string, unknown>>

/** The document's description of the API as a whole. */
export interface OpenApiInfo {
  /** Default: the packages of the services. */
  readonly title?: string
  /** The version of the API. Default: the last part of the first package, such as `v1`. */
  readonly version?: string
  /** CommonMark, in front of what the document says about every method. Default: none. */
  readonly description?: string
  /** Default: none. */
  readonly license?: { readonly name: string; readonly identifier?: string; readonly url?: string }
  /** Base addresses. Default: the one that the document was loaded from. */
  readonly servers?: readonly { readonly url: string; readonly description?: string }[]
  /**
   * Security schemes by name, instead of those that the authenticator and the principal function stand for.
   */
  readonly securitySchemes?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /**
   * A serialized `google.protobuf.FileDescriptorSet` whose comments become descriptions, as
   * `buf build -o image.binpb` writes it. Default: none; generated code has no comments.
   */
  readonly image?: Uint8Array
}

/** The facts about one method that its descriptor does not contain. */
export interface MethodFacts {
  readonly isPublic: boolean
  /** The verb of its rule. */
  readonly verb: string
  /** The kind of standard method. */
  readonly standard: string | undefined
  /** The message of the resource that it is about. */
  readonly resource: DescMessage | undefined
  /** True if `If-Match` and the `etag` of the request are compared. */
  readonly comparesEtags: boolean
  /** True if the response has an `ETag`. */
  readonly returnsEtag: boolean
  /** True if an idempotency key makes it safe to repeat. */
  readonly isRepeatable: boolean
}

/** Everything that a document is made of. The same source gives the same bytes. */
export interface OpenApiSource {
  readonly info: OpenApiInfo
  readonly services: readonly DescService[]
  readonly comments: Comments
  readonly factsOf: (method: DescMethod) => MethodFacts
  /** The model of a resource that a repository stores. */
  readonly modelOf: (message: DescMessage) => ResourceModel | undefined
  /** The relations of a resource that filters can name. */
  readonly relationsOf: (
    model: ResourceModel,
  ) => readonly { readonly name: string; readonly isMany: boolean }[]
  /** True if the field holds a secret or a credential. */
  readonly isSecret: (field: DescField) => boolean
  /** The rules of `buf.validate` that a field declares. */
  readonly rulesOf: (field: DescField) => DeclaredRules | undefined
  /** Rules of a message and its oneofs, in words. */
  readonly messageRulesOf: (message: DescMessage) => readonly string[]
  /** True if a rule of `buf.validate` demands that one member is set. */
  readonly isOneofRequired: (oneof: DescOneof) => boolean
  /**
   * Security schemes by name. A call of a method that is not public needs all schemes of one of the
   * `requirements`.
   */
  readonly security: {
    readonly schemes: Readonly<Record<string, JsonObject>>
    readonly requirements: readonly (readonly string[])[]
  }
  /** True if an invalid token is rejected as such. */
  readonly verifiesTokens: boolean
  /** True if a rate limiter sheds load. */
  readonly shedsLoad: boolean
  readonly updateMask: UpdateMaskMode
  readonly pageSizes: { readonly usual: number; readonly most: number }
}
