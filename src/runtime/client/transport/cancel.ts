import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { constants, type ClientHttp2Stream } from 'node:http2';

/** Published by Node for each stream that this process opens. */
const CREATED = 'http2.client.stream.created';

/**
 * Makes HTTP/2 requests that are called off end with CANCEL, as RFC 9113 (section 7) has it, instead of NO_ERROR.
 *
 * This is not for the server's sake. undici 8.12 calls a request off by `close()` and `destroy()` of its stream in one
 * go, and with NO_ERROR Node 24 keeps the RST_STREAM back until the request's body is written, which the destroyed stream
 * never does: nghttp2 then makes empty DATA frames for ever, in one turn of the event loop, until memory is used up. It
 * takes a request that is called off right as it is sent, as by a SIGTERM. With an error code nothing is kept back.
 */
export function cancelWhatIsCalledOff(): void {
  // Process-wide, and once however often it is asked for.
  unsubscribe(CREATED, onCreated);
  subscribe(CREATED, onCreated);
}

function onCreated(message: unknown): void {
  const { stream } = message as { stream: ClientHttp2Stream };
  const close = stream.close.bind(stream);
  stream.close = (code = constants.NGHTTP2_CANCEL, callback) => close(code, callback);
}
