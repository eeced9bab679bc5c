import { tmpdir } from 'node:os';

/**
 * Set for levels whose files share the processes of workers, and with them their servers: a directory for these servers, which the global
 * set-up of the level removes.
 */
export const SERVERS_VARIABLE = 'TRAFFIC_OPERATOR_TEST_SERVERS';

/** Whether files of this level keep their servers for the next file of the same worker. */
export function keepsServers(): boolean {
  return process.env[SERVERS_VARIABLE] !== undefined;
}

/** For the files of servers. */
export function levelDirectory(): string {
  return process.env[SERVERS_VARIABLE] ?? tmpdir();
}
