/**
 * The names that code may use in a mask: the entity's properties, as declared or as proto names.
 * `addressLine2` may be `address_line2` or `address_line_2` in the .proto. A property with `@ProtoField()`
 * also has its property name.
 */
export type MaskOf<E> = (keyof E & string) | ProtoNameOf<E>

/** The proto names of an entity's properties. */
export type ProtoNameOf<E> = SnakeCase<keyof E & string>

/**
 * Converts a name at the type level as `snakeCase` does at run time: an underscore precedes each capital
 * letter, but in a run of capitals only the last one.
 */
type SnakeCase<S extends string, Before extends string = ''> = S extends `${infer Head}${infer Tail}`
  ? `${Breaks<Before, Head, Tail> extends true ? '_' : MayBreak<Before, Head>}${Lowercase<Head>}${SnakeCase<Tail, Head>}`
  : ''

type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9'

type MayBreak<Before extends string, C extends string> = C extends Digit
  ? Before extends '' | '_' | Digit
    ? ''
    : '' | '_'
  : ''

type IsCapital<C extends string> = C extends Lowercase<C> ? false : true

type Breaks<Before extends string, C extends string, Tail extends string> =
  IsCapital<C> extends false
    ? false
    : Before extends '' | '_'
      ? false
      : IsCapital<Before> extends false
        ? true
        : Tail extends `${infer Next}${string}`
          ? Next extends Uppercase<Next>
            ? false
            : true
          : false
