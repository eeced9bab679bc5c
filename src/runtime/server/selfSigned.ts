import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A certificate and its key, PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

interface SelfSignedOptions {
  /** The common name of subject and issuer, at most 64 characters (RFC 5280, ub-common-name). */
  readonly commonName: string;
  /** The names that clients connect to. */
  readonly dnsNames: readonly string[];
  /** IPv4 addresses that clients connect to. */
  readonly addresses?: readonly string[];
  /** ms since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
}

const SEQUENCE = 0x30;
const SET = 0x31;
const OID = { ecdsaWithSha256: '2a8648ce3d040302', commonName: '550403', serverAuth: '2b06010505070301' };
const EXTENSION = { subjectAltName: '551d11', basicConstraints: '551d13', keyUsage: '551d0f', extKeyUsage: '551d25' };

/**
 * Makes a serving certificate that is its own trust anchor (X.509 v3, RFC 5280; P-256, SHA-256): a client that has it in its
 * bundle trusts this key and no other, since the certificate may sign nothing.
 */
export function selfSigned(o: SelfSignedOptions): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(SEQUENCE, oid(OID.ecdsaWithSha256));
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, oid(OID.commonName), der(0x0c, Buffer.from(o.commonName)))));
  const body = der(
    SEQUENCE,
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, serialNumber()),
    algorithm,
    name,
    der(SEQUENCE, time(o.notBefore), time(o.notAfter)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, ...extensions(o))),
  );
  const certificate = der(SEQUENCE, body, algorithm, bits(sign('sha256', body, privateKey)));
  return { cert: pem(certificate), key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
}

function extensions({ dnsNames, addresses = [] }: SelfSignedOptions): Buffer[] {
  const names = [
    ...dnsNames.map((name) => der(0x82, Buffer.from(name))),
    ...addresses.map((address) => der(0x87, Buffer.from(address.split('.').map(Number)))),
  ];
  return [
    // cA is false by default.
    extension(EXTENSION.basicConstraints, der(SEQUENCE), true),
    // digitalSignature, the first of its bits.
    extension(EXTENSION.keyUsage, der(0x03, Buffer.of(7, 0x80)), true),
    extension(EXTENSION.extKeyUsage, der(SEQUENCE, oid(OID.serverAuth)), false),
    extension(EXTENSION.subjectAltName, der(SEQUENCE, ...names), false),
  ];
}

function extension(id: string, value: Buffer, isCritical: boolean): Buffer {
  return der(SEQUENCE, oid(id), ...(isCritical ? [der(0x01, Buffer.of(0xff))] : []), der(0x04, value));
}

/** One element: tag, length, content (X.690, 8.1.3). */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const digits = Buffer.from(length.toString(16).padStart(length > 0xff ? 4 : 2, '0'), 'hex');
  const head = length < 0x80 ? Buffer.of(tag, length) : Buffer.concat([Buffer.of(tag, 0x80 | digits.length), digits]);
  return Buffer.concat([head, content]);
}

const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
/** A bit string without unused bits. */
const bits = (content: Buffer): Buffer => der(0x03, Buffer.of(0), content);

/** Positive, and without leading zeros. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes;
}

/** Until 2049 with a year of two digits (RFC 5280, 4.1.2.5). */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/[-:T]|\..*/g, '');
  const isShort = Number(digits.slice(0, 4)) < 2050;
  return der(isShort ? 0x17 : 0x18, Buffer.from(`${isShort ? digits.slice(2) : digits}Z`));
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
