import type { ProbeResult } from '../../../api/agent/report.ts';

/** The monotonic times of one HTTP request, ms. A time is absent if the request did not come so far. */
export interface ProbeTimes {
  start: number;
  /** The name of the host was looked up. Absent for an address. */
  lookedUp?: number;
  /** The TCP handshake was done. */
  connected?: number;
  /** The request was handed to the system. */
  requestSent?: number;
  /** The headers of the response came. */
  firstByte?: number;
  /** The response ended, or the request failed. */
  end?: number;
  status?: number;
  /** Where a redirect leads. */
  location?: string;
}

/**
 * The result of a request, as the original agent reports it. Without a connection only the total time counts; a part
 * that did not end is 0.
 *
 * | field | from | to |
 * |---|---|---|
 * | DNSLookup | start | lookedUp |
 * | TCPConnection | lookedUp, or start for an address | connected |
 * | Connect | start | connected |
 * | ServerProcessing | requestSent | firstByte |
 * | ContentTransfer | firstByte | end |
 * | Total | start | end |
 */
export function probeResult(url: string, times: ProbeTimes): ProbeResult {
  const { start, lookedUp, connected, requestSent, firstByte, end } = times;
  const isConnected = connected !== undefined;
  const part = (from: number | undefined, to: number | undefined): number => (isConnected ? between(from, to) : 0);
  return {
    URL: url,
    ConnectionResult: isConnected ? 1 : 0,
    HTTPCode: times.status ?? 0,
    Total: between(start, end),
    ContentTransfer: part(firstByte, end),
    TCPConnection: part(lookedUp ?? start, connected),
    DNSLookup: part(start, lookedUp),
    Connect: part(start, connected),
    ServerProcessing: part(requestSent, firstByte),
  };
}

/** Returns the time between two events in whole milliseconds; 0 if one of them did not happen. */
function between(from: number | undefined, to: number | undefined): number {
  return from === undefined || to === undefined ? 0 : Math.max(0, Math.floor(to - from));
}
