/**
 * The datagrams of the UDP probes. A probe has the kind REQUEST. The agent that hears it sends the same bytes back with
 * the kind REPLY, so that an answer is never larger than its request, and no agent answers an answer.
 *
 * | bytes | content |
 * |---|---|
 * | 0 to 3 | MAGIC |
 * | 4 | kind |
 * | 5 | length of the sender's node name, 0 if it is not known |
 * | 6 to 13 | token: random for each socket of a sender, so that others cannot guess an answer |
 * | 14 to 17 | sequence number |
 * | 18 on | node name in ASCII, then zeros |
 */
const MAGIC = 0x544f4350; // "TOCP"
const REQUEST = 1;
const REPLY = 2;
const KIND_AT = 4;
const LENGTH_AT = 5;
const TOKEN_AT = 6;
const SEQUENCE_AT = 14;
const NAME_AT = 18;
const TOKEN_BYTES = SEQUENCE_AT - TOKEN_AT;
/** DNS-1123 subdomain, as the API server accepts names of nodes. */
const NODE_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MOST_NAME_BYTES = 253;

/** Every datagram has room for a node name. With its headers it is below 576 bytes, which every IPv4 host accepts. */
export const LEAST_BYTES = NAME_AT + MOST_NAME_BYTES;

/** Whether a text is a valid name of a node. */
export function isNodeName(text: string): boolean {
  return text.length <= MOST_NAME_BYTES && NODE_NAME.test(text);
}

/**
 * A probe. The caller sets its sequence number with `setSequence`.
 *
 * @param node of the sender; '' if it is not known
 * @param token 8 random bytes
 * @param bytes of the UDP payload, at least LEAST_BYTES
 */
export function probeDatagram(node: string, token: Buffer, bytes: number): Buffer {
  const datagram = Buffer.alloc(Math.max(bytes, LEAST_BYTES));
  datagram.writeUInt32BE(MAGIC, 0);
  datagram[KIND_AT] = REQUEST;
  token.copy(datagram, TOKEN_AT, 0, TOKEN_BYTES);
  datagram[LENGTH_AT] = isNodeName(node) ? datagram.write(node, NAME_AT, 'latin1') : 0;
  return datagram;
}

/** Sets the sequence number of a probe. */
export function setSequence(datagram: Buffer, sequence: number): void {
  datagram.writeUInt32BE(sequence, SEQUENCE_AT);
}

/** The node of the sender of a probe, '' if the probe names none. Undefined if the datagram is no valid probe. */
export function probeSender(datagram: Buffer): string | undefined {
  if (!isOurs(datagram, REQUEST)) return undefined;
  const length = datagram[LENGTH_AT] ?? 0;
  if (length === 0) return '';
  const name = datagram.toString('latin1', NAME_AT, NAME_AT + length);
  return length <= MOST_NAME_BYTES && isNodeName(name) ? name : undefined;
}

/** Makes a valid probe its own answer, in place. */
export function turnIntoReply(datagram: Buffer): void {
  datagram[KIND_AT] = REPLY;
}

/** The sequence number of an answer to a probe with this token; undefined if the datagram is none. */
export function replySequence(datagram: Buffer, token: Buffer): number | undefined {
  if (!isOurs(datagram, REPLY) || token.compare(datagram, TOKEN_AT, SEQUENCE_AT) !== 0) return undefined;
  return datagram.readUInt32BE(SEQUENCE_AT);
}

function isOurs(datagram: Buffer, kind: number): boolean {
  return datagram.length >= LEAST_BYTES && datagram.readUInt32BE(0) === MAGIC && datagram[KIND_AT] === kind;
}
