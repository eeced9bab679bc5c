import fc from 'fast-check';

/** The bytes of a hostile or broken client, and its next action. */
export interface HostileClient {
  /** Whether TLS is spoken below, where the server speaks it. */
  readonly isTls: boolean;
  readonly what: string;
  readonly bytes: Buffer;
  /** In how many pieces it is sent. */
  readonly pieces: number;
  /** `stay`: it neither sends nor reads. Only of clients whose request never ends. */
  readonly then: 'close' | 'reset' | 'half-close' | 'stay';
}

/** Sent before TLS, or instead of it; over TLS as HTTP/1.1; over TLS as HTTP/2. */
export type Layer = 'tcp' | 'http/1.1' | 'h2';

const LINE = '\r\n';
const HOST = 'Host: x\r\n';

const text = (bytes: string): Buffer => Buffer.from(bytes, 'latin1');
const noise = fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes));
const word = fc.string({ unit: 'binary', maxLength: 40 });
const path = fc.constantFrom('/', '/healthz', '/readyz', '/metrics', '/metrics?x=%zz', '/healthz?verbose');
const method = fc.oneof(
  fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'BREW', 'get', ''),
  word,
);
const target = fc.oneof(
  fc.constantFrom('//', '/\\', '//[', '///', 'http://', 'https://', 'http://[', 'http://x/metrics', '*', '', '\\', '?'),
  fc.constantFrom('x:80', 'x', '/%', '/%00', '/../..', '/#', '//@', '//:99999', 'javascript:1', '/__proto__', '/a\0b'),
  word,
  word.map((rest) => `/${rest}`),
  word.map((rest) => `//${rest}`),
  fc.integer({ min: 1, max: 40_000 }).map((length) => `/${'a'.repeat(length)}`),
);
const version = fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/9', 'http/1.1', '', 'RTSP/1.0');
const header = fc.oneof(
  fc.constantFrom(
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip, identity',
    'Content-Length: 5',
    'Content-Length: -1',
    'Content-Length: 99999999999999999999',
    'Expect: 100-continue',
    'Expect: the moon',
    'Upgrade: websocket\r\nConnection: Upgrade',
    'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk',
    'Connection: close',
    'Connection: keep-alive, keep-alive, x',
    'Host: a\r\nHost: b',
    'Authorization: Bearer x',
    'Authorization: Bearer \0',
    ' folded',
    'no colon',
    'a: \0',
    '__proto__: 1',
  ),
  word.map((value) => `X: ${value}`),
  fc.integer({ min: 1, max: 40_000 }).map((length) => `X-Long: ${'x'.repeat(length)}`),
  fc.integer({ min: 1, max: 3_000 }).map((count) => Array.from({ length: count }, (_, i) => `H${i}: 1`).join(LINE)),
);
const headers = fc.array(header, { maxLength: 3 }).map((all) => HOST + all.map((each) => each + LINE).join(''));
const request = fc.tuple(method, target, version, headers).map((part) => {
  const [verb, to, protocol, head] = part;
  return `${verb} ${to} ${protocol}${LINE}${head}${LINE}`;
});
const body = fc
  .tuple(path, word)
  .map(([to, rest]) => `POST ${to} HTTP/1.1${LINE}${HOST}Content-Length: 90${LINE}${LINE}${rest}`);

const HTTP1: Readonly<Record<string, fc.Arbitrary<Buffer>>> = {
  'a request': request.map(text),
  'a target': target.map((to) => text(`GET ${to} HTTP/1.1${LINE}${HOST}${LINE}`)),
  'a request line': word.map((line) => text(`${line}${LINE}${LINE}`)),
  CONNECT: fc.tuple(target, headers).map(([to, head]) => text(`CONNECT ${to} HTTP/1.1${LINE}${head}${LINE}tunnel`)),
  'a body with wrong chunks': word.map((chunk) =>
    text(`POST /metrics HTTP/1.1${LINE}${HOST}Transfer-Encoding: chunked${LINE}${LINE}${chunk}${LINE}0${LINE}${LINE}`),
  ),
  'half of a body': body.map(text),
  'pipelined requests': fc
    .tuple(path, fc.integer({ min: 2, max: 400 }))
    .map(([to, count]) => text(`GET ${to} HTTP/1.1${LINE}${HOST}${LINE}`.repeat(count))),
  'pipelined requests of many kinds': fc
    .array(request, { minLength: 2, maxLength: 8 })
    .map((all) => text(all.join(''))),
  noise,
};

/** RFC 9113, 4.1: length, type, flags, stream, payload; here of any kind, and with a length that may be wrong. */
const frame = fc
  .tuple(
    fc.integer({ min: 0, max: 12 }),
    fc.nat(255),
    fc.integer({ min: 0, max: 7 }),
    fc.uint8Array({ maxLength: 80 }),
    fc.integer({ min: -2, max: 5 }),
  )
  .map(([type, flags, stream, payload, excess]) => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(Math.max(0, payload.length + Math.max(0, excess)), 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]);
  });
const PREFACE = Buffer.concat([
  text(`PRI * HTTP/2.0${LINE}${LINE}SM${LINE}${LINE}`),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
/** Static table of RFC 7541: 0x82 GET, 0x83 POST, 0x87 https; 0x44 a literal :path, 0x41 :authority. */
const http2Request = fc.tuple(fc.constantFrom(0x82, 0x83), target, fc.constantFrom(4, 5)).map(([verb, to, flags]) => {
  const literal = text(to.slice(0, 100));
  const block = Buffer.concat([Buffer.from([verb, 0x87, 0x41, 1, 0x78, 0x44, literal.length]), literal]);
  return Buffer.concat([Buffer.from([0, 0, block.length, 1, flags, 0, 0, 0, 1]), block]);
});

const HTTP2: Readonly<Record<string, fc.Arbitrary<Buffer>>> = {
  'frames of every kind': fc
    .array(frame, { minLength: 1, maxLength: 20 })
    .map((all) => Buffer.concat([PREFACE, ...all])),
  'a request and frames': fc
    .tuple(http2Request, fc.array(frame, { maxLength: 10 }))
    .map(([first, all]) => Buffer.concat([PREFACE, first, ...all])),
  'half of a preface': fc.integer({ min: 0, max: 24 }).map((length) => PREFACE.subarray(0, length)),
  'noise after the preface': noise.map((bytes) => Buffer.concat([PREFACE, bytes])),
  'HTTP/1.1': request.map(text),
  noise,
};

/** RFC 8446, 5.1: a record of the handshake, or of a type that there is not. */
const TLS: Readonly<Record<string, fc.Arbitrary<Buffer>>> = {
  'plain HTTP': request.map(text),
  'TLS records': fc
    .tuple(fc.constantFrom(20, 21, 22, 23, 24, 99), fc.uint8Array({ maxLength: 200 }), fc.integer({ min: -1, max: 3 }))
    .map(([type, bytes, excess]) => {
      const length = Math.max(0, bytes.length + excess);
      return Buffer.concat([Buffer.from([type, 3, 1, length >> 8, length & 255]), bytes]);
    }),
  noise,
};

const KINDS = { tcp: HTTP1, 'http/1.1': HTTP1, h2: HTTP2 } as const;

/**
 * Clients that a seed makes: the same for the same seed.
 *
 * @param layer what is spoken below `bytes`; on a server of TLS a tenth speaks none, whatever the layer
 */
export function hostileClients(layer: Layer, seed: number, count: number): HostileClient[] {
  const kinds = Object.entries(KINDS[layer]).map(([what, bytes]) => client(what, bytes, layer !== 'tcp'));
  const broken = layer === 'tcp' ? [] : Object.entries(TLS).map(([what, bytes]) => client(what, bytes, false));
  const weighted = [
    ...kinds.map((arbitrary) => ({ arbitrary, weight: 3 })),
    ...broken.map((arbitrary) => ({ arbitrary, weight: 1 })),
  ];
  return fc.sample(fc.oneof(...weighted), { seed, numRuns: count });
}

function client(what: string, bytes: fc.Arbitrary<Buffer>, isTls: boolean): fc.Arbitrary<HostileClient> {
  return fc.record({
    what: fc.constant(what),
    bytes,
    isTls: fc.constant(isTls),
    pieces: fc.constantFrom(1, 1, 1, 2, 5),
    then: fc.constantFrom('close', 'reset', 'half-close', 'half-close', 'stay'),
  });
}
