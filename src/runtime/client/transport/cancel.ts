import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { constants, type ClientHttp2Stream } from 'node:http2';

/** Published by Node for each stream that this process opens. */
const CREATED = 'http2.client.stream.created';

/**
 * Makes cancelled HTTP/2 requests end with CANCEL, as in RFC 9113 (section 7), instead of NO_ERROR.
 *
 * This avoids an endless loop in this process. undici 8.12 cancels a request with `close()` and `destroy()` of its
 * stream in one step. With NO_ERROR, Node 24 delays the RST_STREAM until the request's body is written, which the
 * destroyed stream never does. nghttp2 then creates empty DATA frames forever, within one turn of the event loop, until
 * memory runs out. It happens to a request that is cancelled while it is being sent, for example by SIGTERM. With an
 * error code Node does not delay the RST_STREAM.
 */
export function cancelWhatIsCalledOff(): void {
  // Process-wide; further calls have no effect.
  unsubscribe(CREATED, onCreated);
  subscribe(CREATED, onCreated);
}

function onCreated(message: unknown): void {
  const { stream } = message as { stream: ClientHttp2Stream };
  const close = stream.close.bind(stream);
  stream.close = (code = constants.NGHTTP2_CANCEL, callback) => close(code, callback);
}
