import { create, createFileRegistry, type DescMessage } from '@bufbuild/protobuf'
import {
  Edition,
  FeatureSet_FieldPresence,
  FeatureSet_MessageEncoding,
  FeatureSet_RepeatedFieldEncoding,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'

const { OPTIONAL, REPEATED } = FieldDescriptorProto_Label
const { INT32, STRING, ENUM, MESSAGE } = FieldDescriptorProto_Type
const INSIDE = '.unusual.v1.Unusual'

/**
 * What no .proto of the project has: explicit presence everywhere, implicit presence, required fields,
 * groups, lists that are not packed, an enum whose first value is not 0, and numbers of fields that do not
 * stand in order or are large.
 */
export const unusual = (): DescMessage => {
  const file = create(FileDescriptorProtoSchema, {
    name: 'unusual.proto',
    package: 'unusual.v1',
    syntax: 'editions',
    edition: Edition.EDITION_2023,
    messageType: [
      {
        name: 'Unusual',
        field: [
          { name: 'last', number: 536_870_911, type: STRING, label: OPTIONAL },
          { name: 'present', number: 9, type: STRING, label: OPTIONAL },
          {
            name: 'bare',
            number: 8,
            type: INT32,
            label: OPTIONAL,
            options: { features: { fieldPresence: IMPLICIT } },
          },
          {
            name: 'must',
            number: 7,
            type: INT32,
            label: OPTIONAL,
            options: { features: { fieldPresence: REQUIRED } },
          },
          {
            name: 'spread',
            number: 6,
            type: INT32,
            label: REPEATED,
            options: { features: { repeatedFieldEncoding: EXPANDED } },
          },
          {
            name: 'group',
            number: 5,
            type: MESSAGE,
            typeName: INSIDE,
            label: OPTIONAL,
            options: { features: { messageEncoding: DELIMITED } },
          },
          {
            name: 'groups',
            number: 4,
            type: MESSAGE,
            typeName: INSIDE,
            label: REPEATED,
            options: { features: { messageEncoding: DELIMITED } },
          },
          { name: 'closed', number: 3, type: ENUM, typeName: '.unusual.v1.Closed', label: OPTIONAL },
          { name: 'closeds', number: 2, type: ENUM, typeName: '.unusual.v1.Closed', label: REPEATED },
        ],
      },
    ],
    enumType: [
      {
        name: 'Closed',
        value: [
          { name: 'SEVEN', number: 7 },
          { name: 'ZERO', number: 0 },
        ],
        options: { features: { enumType: 2 } },
      },
    ],
  })
  return createFileRegistry(file, () => undefined).getMessage('unusual.v1.Unusual') as DescMessage
}

const { IMPLICIT, LEGACY_REQUIRED: REQUIRED } = FeatureSet_FieldPresence
const { EXPANDED } = FeatureSet_RepeatedFieldEncoding
const { DELIMITED } = FeatureSet_MessageEncoding
