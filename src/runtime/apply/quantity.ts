const FORMAT = /^([+-]?)(\d+)?(?:\.(\d*))?([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;

const DECIMAL_EXPONENTS: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY_PREFIXES = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** An exact number of any length: digits / 10 ** scale. */
interface Exact {
  digits: bigint;
  scale: number;
}

/**
 * True if two quantities (resource.Quantity) are the same amount: '1000m', 1 and '1'; '1Gi' and '1024Mi'. False if one
 * of them is not a quantity.
 */
export function isSameQuantity(a: unknown, b: unknown): boolean {
  const first = parseQuantity(a);
  const second = parseQuantity(b);
  if (first === undefined || second === undefined) {
    return false;
  }
  const scale = Math.max(first.scale, second.scale);
  return atScale(first, scale) === atScale(second, scale);
}

/** The amount of a quantity, rounded to a double. Undefined if the value is not a quantity. */
export function quantityOf(value: unknown): number | undefined {
  const exact = parseQuantity(value);
  if (exact === undefined) return undefined;
  const { digits, scale } = exact;
  return scale > 0 ? Number(digits) / 10 ** scale : Number(digits) * 10 ** -scale;
}

function parseQuantity(value: unknown): Exact | undefined {
  const match = typeof value === 'string' || typeof value === 'number' ? FORMAT.exec(String(value)) : null;
  if (match === null) {
    return undefined;
  }
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match;
  if (whole === '' && fraction === '') {
    return undefined;
  }
  const digits = BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`) * binaryFactor(suffix);
  return { digits, scale: fraction.length - decimalExponent(suffix) };
}

function binaryFactor(suffix: string): bigint {
  return 1024n ** BigInt(BINARY_PREFIXES.indexOf(suffix) + 1);
}

function decimalExponent(suffix: string): number {
  return /^[eE][+-]?\d/.test(suffix) ? Number(suffix.slice(1)) : (DECIMAL_EXPONENTS[suffix] ?? 0);
}

function atScale(value: Exact, scale: number): bigint {
  return value.digits * 10n ** BigInt(scale - value.scale);
}
