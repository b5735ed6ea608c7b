import type { DescField, DescMessage, DescMethod, DescOneof, DescService } from '@bufbuild/protobuf'
import type { UpdateMaskMode } from '../../gateway/transcoding/update-mask-forms.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Comments } from './comments.js'
import type { DeclaredRules } from '../rules/declared-rules.js'

/** A JSON object of the document. */
export type JsonObject = Readonly<Record<string, unknown>>

/** The document's description of the API as a whole. */
export interface OpenApiInfo {
  /** Default: the packages of the services. */
  readonly title?: string
  /** The version of the API. Default: the last part of the first package, such as `v1`. */
  readonly version?: string
  /** CommonMark that precedes the document's general description. Default: none. */
  readonly description?: string
  /** Default: none. */
  readonly license?: { readonly name: string; readonly identifier?: string; readonly url?: string }
  /** Base addresses. Default: the address from which the document was loaded. */
  readonly servers?: readonly { readonly url: string; readonly description?: string }[]
  /**
   * Security schemes by name, which replace those derived from the authenticator and the principal function.
   */
  readonly securitySchemes?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /**
   * A serialized `google.protobuf.FileDescriptorSet`, as written by `buf build -o image.binpb`, whose
   * comments become descriptions. Default: none, because generated code contains no comments.
   */
  readonly image?: Uint8Array
}

/** Properties of a method that its descriptor does not contain. */
export interface MethodFacts {
  readonly isPublic: boolean
  /** The verb of its rule. */
  readonly verb: string
  /** The kind of standard method. */
  readonly standard: string | undefined
  /** The message of the method's resource. */
  readonly resource: DescMessage | undefined
  /** True if `If-Match` and the request's `etag` are compared. */
  readonly comparesEtags: boolean
  /** True if the response has an `ETag`. */
  readonly returnsEtag: boolean
  /** True if a request with an idempotency key can be repeated safely. */
  readonly isRepeatable: boolean
}

/** The input of a document. The same source always produces the same bytes. */
export interface OpenApiSource {
  readonly info: OpenApiInfo
  readonly services: readonly DescService[]
  readonly comments: Comments
  readonly factsOf: (method: DescMethod) => MethodFacts
  /** Returns the model of a resource that a repository stores. */
  readonly modelOf: (message: DescMessage) => ResourceModel | undefined
  /** Returns the relations of a resource that filters can name. */
  readonly relationsOf: (
    model: ResourceModel,
  ) => readonly { readonly name: string; readonly isMany: boolean }[]
  /** Returns true if the field contains a secret or a credential. */
  readonly isSecret: (field: DescField) => boolean
  /** Returns the `buf.validate` rules of a field. */
  readonly rulesOf: (field: DescField) => DeclaredRules | undefined
  /** Returns the rules of a message and its oneofs as sentences. */
  readonly messageRulesOf: (message: DescMessage) => readonly string[]
  /** Returns true if a `buf.validate` rule requires that one member is set. */
  readonly isOneofRequired: (oneof: DescOneof) => boolean
  /**
   * Security schemes by name. A call of a non-public method needs all schemes of one of the `requirements`.
   */
  readonly security: {
    readonly schemes: Readonly<Record<string, JsonObject>>
    readonly requirements: readonly (readonly string[])[]
  }
  /** True if invalid tokens are rejected. */
  readonly verifiesTokens: boolean
  /** True if a rate limiter rejects excess load. */
  readonly shedsLoad: boolean
  readonly updateMask: UpdateMaskMode
  readonly pageSizes: { readonly usual: number; readonly most: number }
}
