import { expect, it } from 'vitest';
import type { Client } from '../../../runtime/client/client.ts';
import { DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import { limitWrites } from './act.ts';

const REF = { namespace: 'shop', name: 'web' };
const OBJECT = { metadata: REF };
const HOW = { fieldManager: 'x' };

/** A client whose writes have no answer until `answer` is called for one of them. */
function scene() {
  const sent: string[] = [];
  const answers: (() => void)[] = [];
  const write = (verb: string) => () => {
    sent.push(verb);
    return new Promise<void>((resolve) => answers.push(resolve));
  };
  const verbs = Object.fromEntries(['create', 'apply', 'mergePatch', 'delete'].map((verb) => [verb, write(verb)]));
  const client = limitWrites({ ...verbs, get: () => Promise.resolve(OBJECT) } as unknown as Client, 2);
  return { client, sent, answer: () => answers.shift()?.() };
}

const stable = () => new Promise((resolve) => setImmediate(resolve));

it('sends two writes at once, the others after them, and reads at any time', async () => {
  const { client, sent, answer } = scene();
  const all = [
    client.apply(DEPLOYMENTS, OBJECT, HOW),
    client.delete(DEPLOYMENTS, REF),
    client.create(DEPLOYMENTS, OBJECT),
    client.mergePatch(DEPLOYMENTS, REF, {}, HOW),
  ];
  await stable();
  expect(sent).toEqual(['apply', 'delete']);
  expect(await client.get(DEPLOYMENTS, REF)).toBe(OBJECT);
  answer();
  await stable();
  expect(sent).toEqual(['apply', 'delete', 'create']);
  for (let n = 0; n < 3; n += 1) {
    answer();
    await stable();
  }
  await Promise.all(all);
  expect(sent).toEqual(['apply', 'delete', 'create', 'mergePatch']);
});

it('does not send what is called off before its turn', async () => {
  const { client, sent, answer } = scene();
  const others = [client.delete(DEPLOYMENTS, REF), client.delete(DEPLOYMENTS, REF)];
  const stop = new AbortController();
  const write = client.apply(DEPLOYMENTS, OBJECT, { ...HOW, signal: stop.signal });
  stop.abort();
  await expect(write).rejects.toMatchObject({ name: 'TransportError', failure: 'aborted', unsent: true });
  answer();
  answer();
  await Promise.all(others);
  expect(sent).toEqual(['delete', 'delete']);
});
