import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ControlPlane } from '../harness/controlPlane.ts';

/** The answer of the API server: its HTTP status, and the message of a Status. */
export interface Answer {
  status: number;
  message: string;
}

/**
 * Sends one request as somebody: kubectl would first read what it is to change, which not everybody may.
 *
 * @param patchType of a PATCH, such as 'apply-patch+yaml'; 'merge-patch+json' unless told
 */
export type Send = (method: string, path: string, body?: object, patchType?: string) => Promise<Answer>;

/** Who sends: a ServiceAccount by its token, or the administrator by the control plane's certificate. */
export async function sender(plane: ControlPlane, token?: string): Promise<Send> {
  const file = (name: string): Promise<Buffer> => readFile(join(plane.directory, name));
  const tls =
    token === undefined
      ? { ca: await file('ca.crt'), cert: await file('admin.crt'), key: await file('admin.key') }
      : { ca: await file('ca.crt') };
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return (method, path, body, patchType = 'merge-patch+json') =>
    new Promise((resolve, reject) => {
      const type = method === 'PATCH' ? `application/${patchType}` : 'application/json';
      const options = { ...tls, method, headers: { ...authorization, 'content-type': type } };
      const call = request(plane.url + path, options, (answer) => {
        text(answer).then((read) => resolve({ status: answer.statusCode ?? 0, message: messageOf(read) }), reject);
      });
      call.once('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
}

function messageOf(body: string): string {
  const { kind, message = '' } = JSON.parse(body) as { kind: string; message?: string };
  return kind === 'Status' ? message : '';
}
