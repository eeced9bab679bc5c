import type { V1Node } from '@kubernetes/client-node';
import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { trimNode, type CachedNode } from '../../../nodes/cachedNode.ts';
import { ApiError, TransportError } from '../../../runtime/client/errors.ts';
import { createOverlay } from '../../../runtime/cache/overlay.ts';
import { Store } from '../../../runtime/cache/store.ts';
import { FakeApi } from '../../../runtime/testing/fakeApi/fakeApi.ts';
import type { LabelChange, LabelChanges } from '../model/label.ts';
import { aNode } from '../testing/scene.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { allowanceOf, NodeLabelWriter } from './nodeLabelWriter.ts';
import { isBehind, type Payer } from './writeCall.ts';

const A = 'a.traffic.example.com/unfit';
const B = 'b.traffic.example.com/unfit';

const NODE_NAMES = Array.from({ length: 100 }, (_, n) => `n${n}`);

/** @param answer awaited before the API server answers a patch of this node */
function writer(answer: (node: string, keys: readonly string[]) => unknown = () => undefined) {
  const clock = new FakeClock();
  const patches: [string, unknown][] = [];
  const signals: AbortSignal[] = [];
  const client = new FakeApi(...NODE_NAMES.map((name) => ({ kind: 'Node', metadata: { name } })));
  client.intercept = ({ verb, what, name, body, options }) => {
    expect([verb, what]).toEqual(['patch', 'Node']);
    patches.push([name, (body as V1Node).metadata?.labels]);
    signals.push(options!.signal!);
    return Promise.resolve(answer(name, Object.keys((body as V1Node).metadata?.labels ?? {})));
  };
  const lister = new Store<CachedNode>();
  lister.set({ ...aNode('n1'), metadata: { name: 'n1', resourceVersion: '0' } });
  const nodes = createOverlay({ lister, subscribe: () => () => undefined });
  return {
    patches,
    signals,
    nodes,
    clock,
    labels: new NodeLabelWriter({ client, fieldManager: 'test', trim: trimNode('test'), nodes, clock }),
  };
}

const changesOf = (nodes: readonly string[], change: LabelChange): LabelChanges =>
  new Map(nodes.map((node) => [node, change]));
const payerOf = (namespace: string, urgent: readonly string[] = [], watch = 'web'): Payer => ({
  ...{ namespace, watch, nodes: NODE_NAMES.length },
  urgent: new Set(urgent),
});

const status = (code: number, detail = '') =>
  new ApiError({ status: code, reason: 'x', detail, method: 'PATCH', path: '/api/v1/nodes/n1' });

const WEBHOOK_DOWN = status(500, 'Internal error occurred: failed calling webhook "w.example.com": connection refused');

describe('NodeLabelWriter', () => {
  it('combines the changes of several TrafficWatches to one node into one patch', async () => {
    const { patches, labels } = writer();
    await Promise.all([
      labels.write(new Map([['n1', { [A]: 'true' }]])),
      labels.write(new Map([['n1', { [B]: null }]])),
    ]);
    expect(patches).toEqual([['n1', { [A]: 'true', [B]: null }]]);
  });

  it('combines the changes of each node, also if nodes share change objects', async () => {
    const { patches, labels } = writer();
    const a: LabelChange = { [A]: 'true' };
    const b: LabelChange = { [B]: 'true' };
    const notB: LabelChange = { [B]: null };
    await Promise.all([
      labels.write(new Map(['n1', 'n2', 'n3'].map((node) => [node, a]))),
      labels.write(new Map(Object.entries({ n1: b, n2: notB, n3: b }))),
    ]);
    expect(patches).toEqual([
      ['n1', { ...a, ...b }],
      ['n2', { ...a, ...notB }],
      ['n3', { ...a, ...b }],
    ]);
    expect(patches[2]?.[1]).toBe(patches[0]?.[1]);
  });

  it('runs one patch for each node at a time; later changes go into the next patch', async () => {
    const gate = Promise.withResolvers<undefined>();
    const { patches, labels } = writer(() => gate.promise);
    const first = labels.write(new Map([['n1', { [A]: 'true' }]]));
    await vi.waitFor(() => expect(patches).toHaveLength(1));
    const second = labels.write(new Map([['n1', { [A]: 'false' }]]));
    const third = labels.write(new Map([['n1', { [B]: 'true' }]]));
    gate.resolve(undefined);
    await Promise.all([first, second, third]);
    expect(patches).toEqual([
      ['n1', { [A]: 'true' }],
      ['n1', { [A]: 'false', [B]: 'true' }],
    ]);
  });

  it('reports which node failed and writes the others', async () => {
    const { patches, labels } = writer((node) => (node === 'n1' ? Promise.reject(status(403)) : undefined));
    const failures = await labels.write(
      new Map([
        ['n1', { [A]: 'true' }],
        ['n2', { [A]: 'true' }],
      ]),
    );
    expect([...failures.keys()]).toEqual(['n1']);
    expect(patches.map(([node]) => node)).toEqual(['n1', 'n2']);
  });

  it('cancels a patch only if all its callers have cancelled', async () => {
    const hang = Promise.withResolvers<undefined>();
    const { signals, labels } = writer(() => hang.promise);
    const [one, other] = [new AbortController(), new AbortController()];
    const written = [
      labels.write(new Map([['n1', { [A]: 'true' }]]), one.signal),
      labels.write(new Map([['n1', { [B]: 'true' }]]), other.signal),
      labels.write(new Map([['n2', { [B]: 'true' }]])),
    ];
    await vi.waitFor(() => expect(signals).toHaveLength(2));
    one.abort();
    expect(signals.map((signal) => signal.aborted)).toEqual([false, false]);
    other.abort();
    expect(signals.map((signal) => signal.aborted)).toEqual([true, false]);
    hang.resolve(undefined);
    await Promise.all(written);
  });

  it('reports a running patch until its response is stored', async () => {
    const gate = Promise.withResolvers<undefined>();
    const { patches, nodes, labels } = writer(() => gate.promise);
    const write = labels.write(new Map([['n1', { [A]: 'true' }]]));
    await vi.waitFor(() => expect(patches).toHaveLength(1));
    expect(labels.underWay('n2')).toBeUndefined();
    const seen = labels.underWay('n1')?.then(() => nodes.get('n1')?.labels);
    gate.resolve(undefined);
    expect(await seen).toEqual({ [A]: 'true' });
    await write;
    expect(labels.underWay('n1')).toBeUndefined();
  });

  it('treats a deleted node as written', async () => {
    const { labels } = writer(() => Promise.reject(status(404)));
    expect((await labels.write(new Map([['n1', { [A]: 'true' }]]))).size).toBe(0);
  });

  it('shows the label to readers at once, before the cache has it', async () => {
    const { nodes, labels } = writer();
    await labels.write(new Map([['n1', { [A]: 'true' }]]));
    expect(nodes.get('n1')?.labels).toEqual({ [A]: 'true' });
  });

  describe('with more nodes than patches at once', () => {
    const all = (): LabelChanges => new Map(NODE_NAMES.map((node) => [node, { [A]: 'true' }]));

    it('starts the deadline of a patch when it is sent, not when it is queued', async () => {
      const gates = new Map(NODE_NAMES.map((node) => [node, Promise.withResolvers<undefined>()]));
      const { patches, labels } = writer((node) => gates.get(node)?.promise);
      const written = labels.write(all());
      await vi.waitFor(() => expect(patches).toHaveLength(12));
      gates.get('n3')?.resolve(undefined);
      await vi.waitFor(() => expect(patches.at(-1)?.[0]).toBe('n12'));
      expect(patches).toHaveLength(13);
      for (const gate of gates.values()) gate.resolve(undefined);
      expect((await written).size).toBe(0);
      expect(patches.map(([node]) => node)).toEqual(NODE_NAMES);
    });

    it('adds one abort listener for each call, not for each node, and removes it at the end', async () => {
      const gate = Promise.withResolvers<undefined>();
      const { patches, labels } = writer(() => gate.promise);
      const { signal } = new AbortController();
      const written = labels.write(all(), signal);
      await vi.waitFor(() => expect(patches).toHaveLength(12));
      expect(getEventListeners(signal, 'abort')).toHaveLength(1);
      gate.resolve(undefined);
      await written;
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    });

    it('cancels all patches of a caller that has cancelled, and reports all its nodes', async () => {
      const gate = Promise.withResolvers<undefined>();
      const aborted = new TransportError('x', { failure: 'aborted' });
      const { signals, labels } = writer(() => gate.promise.then(() => Promise.reject(aborted)));
      const asker = new AbortController();
      const written = labels.write(all(), asker.signal);
      await vi.waitFor(() => expect(signals).toHaveLength(12));
      asker.abort();
      gate.resolve(undefined);
      expect((await written).size).toBe(NODE_NAMES.length);
      expect(signals.every(({ aborted: isCalledOff }) => isCalledOff)).toBe(true);
    });

    it('adds changes to a node that is still queued', async () => {
      const gate = Promise.withResolvers<undefined>();
      const { patches, labels } = writer(() => gate.promise);
      const first = labels.write(all());
      await vi.waitFor(() => expect(patches).toHaveLength(12));
      const second = labels.write(new Map([['n50', { [B]: 'true' }]]));
      gate.resolve(undefined);
      await Promise.all([first, second]);
      expect(patches.filter(([node]) => node === 'n50')).toEqual([['n50', { [A]: 'true', [B]: 'true' }]]);
    });

    it.each([
      ['does not answer', new TransportError('x', { failure: 'deadline' })],
      ['answers 503', status(503)],
      ['answers 429', status(429)],
    ])('fails all waiting nodes if the API server %s', async (_, error) => {
      const { patches, labels } = writer(() => Promise.reject(error));
      const failures = await labels.write(all());
      expect(failures.size).toBe(NODE_NAMES.length);
      expect(new Set(failures.values())).toEqual(new Set([error]));
      expect(patches.length).toBeLessThanOrEqual(14);
      await labels.write(new Map([['n99', { [B]: 'true' }]]));
      expect(patches.at(-1)).toEqual(['n99', { [B]: 'true' }]);
    });

    it.each([
      ['a webhook that some nodes match does not answer', 11, WEBHOOK_DOWN],
      ['the API server fails for two nodes', 2, status(503)],
    ])('writes the others if %s, and next time first', async (_, count, error) => {
      const bad = NODE_NAMES.slice(0, count);
      const gate = Promise.withResolvers<undefined>();
      let isHeld = false;
      const { patches, labels } = writer(async (node) => {
        if (!bad.includes(node)) return;
        if (isHeld) await gate.promise;
        throw error;
      });
      expect([...(await labels.write(all())).keys()].sort()).toEqual([...bad].sort());
      expect(patches).toHaveLength(NODE_NAMES.length);
      patches.length = 0;
      isHeld = true;
      const again = labels.write(all());
      const running = Math.min(count, 3);
      await vi.waitFor(() => expect(patches).toHaveLength(NODE_NAMES.length - count + running));
      expect(patches.slice(0, -running).filter(([node]) => bad.includes(node))).toEqual([]);
      gate.resolve(undefined);
      expect((await again).size).toBe(count);
    });

    it('fails all waiting nodes if a webhook that all nodes match does not answer', async () => {
      const { patches, labels } = writer(() => Promise.reject(WEBHOOK_DOWN));
      expect(new Set((await labels.write(all())).values())).toEqual(new Set([WEBHOOK_DOWN]));
      expect(patches.length).toBeLessThan(24);
    });

    it('treats a node that succeeds again as any other', async () => {
      let isDown = true;
      const { patches, labels } = writer((node) =>
        isDown && node === 'n0' ? Promise.reject(WEBHOOK_DOWN) : undefined,
      );
      await labels.write(all());
      isDown = false;
      await labels.write(all());
      expect(patches.at(-1)?.[0]).toBe('n0');
      patches.length = 0;
      await labels.write(all());
      expect(patches[0]?.[0]).toBe('n0');
    });

    it('continues to the end if single nodes are refused or cancelled', async () => {
      const { patches, labels } = writer((node) =>
        Promise.reject(node === 'n1' ? new TransportError('x', { failure: 'aborted' }) : status(403)),
      );
      expect((await labels.write(all())).size).toBe(NODE_NAMES.length);
      expect(patches.map(([node]) => node)).toEqual(NODE_NAMES);
    });
  });

  it('lets namespaces take turns, and within a namespace changed verdicts come first', async () => {
    const gate = Promise.withResolvers<undefined>();
    const { patches, labels } = writer(() => gate.promise);
    const bulk = labels.write(changesOf(NODE_NAMES, { [A]: 'true' }), undefined, payerOf('shop'));
    await vi.waitFor(() => expect(patches).toHaveLength(12));
    const others = [
      labels.write(changesOf(['n98', 'n99'], { [B]: 'true' }), undefined, payerOf('team')),
      labels.write(changesOf(['n97'], { [A]: 'false' }), undefined, payerOf('shop', ['n97'])),
    ];
    gate.resolve(undefined);
    await Promise.all([bulk, ...others]);
    expect(patches.slice(12, 16).map(([node]) => node)).toEqual(['n97', 'n98', 'n12', 'n99']);
    expect(patches[13]?.[1]).toEqual({ [A]: 'true', [B]: 'true' });
    expect(patches).toHaveLength(NODE_NAMES.length);
  });

  it.each([
    [10, 2_000, 20],
    [5_000, 20_000, 25],
    [50_000, 200_000, 250],
  ])('with %d nodes a namespace may write %d labels at once, and %d a second', (nodes, burst, perSecond) => {
    expect(allowanceOf(nodes)).toEqual({ burst, perSecond });
  });

  it('limits a namespace whose labels are put on and taken off again and again, but not its ten changed verdicts', async () => {
    const { patches, labels, clock } = writer();
    const toggle = async (times: number): Promise<number> => {
      let behind = 0;
      for (let n = 0; n < times; n++) {
        const failures = await labels.write(
          changesOf(NODE_NAMES, { [A]: n % 2 === 0 ? 'true' : null }),
          undefined,
          payerOf('shop'),
        );
        behind += [...failures.values()].filter(isBehind).length;
      }
      return behind;
    };
    expect([await toggle(30), patches.length]).toEqual([1_100, 1_900]);
    const ten = NODE_NAMES.slice(0, 10);
    expect(await labels.write(changesOf(ten, { [A]: 'false' }), undefined, payerOf('shop', ten))).toEqual(new Map());
    expect(await labels.write(changesOf(NODE_NAMES, { [B]: 'true' }), undefined, payerOf('team'))).toEqual(new Map());
    await clock.advance(5_000);
    expect([await toggle(1), patches.length]).toEqual([10, 1_900 + 10 + 100 + 90]);
    expect(await labels.write(changesOf(NODE_NAMES, { [A]: null }))).toEqual(new Map());
    const inOnePatch = await Promise.all([
      labels.write(changesOf(['n1'], { [A]: 'true' }), undefined, payerOf('shop')),
      labels.write(changesOf(['n1'], { [B]: null }), undefined, payerOf('team')),
    ]);
    expect(inOnePatch).toEqual([new Map(), new Map()]);
    expect(patches.at(-1)).toEqual(['n1', { [A]: 'true', [B]: null }]);
  });

  describe('a patch of a node takes along what waits for the allowance', () => {
    /** Leaves no token of shop but those for urgent changes, then lets api wait for the labels of n1 and n2. */
    async function waiting() {
      const scene = writer();
      const { labels, patches } = scene;
      for (let n = 0; n < 19; n++) await labels.write(changesOf(NODE_NAMES, { [A]: null }), undefined, payerOf('shop'));
      patches.length = 0;
      const change: LabelChange = { [B]: 'false' };
      const behind = await labels.write(changesOf(['n1', 'n2'], change), undefined, payerOf('shop', [], 'api'));
      expect([...behind.values()].map(isBehind)).toEqual([true, true]);
      const urgent = (node: string, namespace = 'shop') =>
        labels.write(changesOf([node], { [A]: 'true' }), undefined, payerOf(namespace, [node]));
      return { ...scene, urgent };
    }

    it('so that one token writes all keys of the node, once', async () => {
      const { patches, urgent } = await waiting();
      await urgent('n1');
      await urgent('n1');
      expect(patches).toEqual([
        ['n1', { [A]: 'true', [B]: 'false' }],
        ['n1', { [A]: 'true' }],
      ]);
    });

    it.each<[string, (scene: Awaited<ReturnType<typeof waiting>>) => unknown, string?]>([
      [
        'its TrafficWatch decided again',
        ({ labels }) => labels.write(new Map(), undefined, payerOf('shop', [], 'api')),
      ],
      ['its TrafficWatch has not decided for long', ({ clock }) => clock.advance(10_000)],
      ['the patch is of another namespace', () => undefined, 'team'],
    ])('unless %s', async (_, happens, namespace) => {
      const scene = await waiting();
      await happens(scene);
      await scene.urgent('n1', namespace);
      expect(scene.patches).toEqual([['n1', { [A]: 'true' }]]);
    });
  });

  it('counts only patches that are sent: not those that an outage fails', async () => {
    let isDown = true;
    const { patches, labels } = writer(() => (isDown ? Promise.reject(status(503)) : undefined));
    for (let n = 0; n < 50; n++) {
      await labels.write(changesOf(NODE_NAMES, { [A]: 'true' }), undefined, payerOf('shop'));
    }
    isDown = false;
    const sent = patches.length;
    expect(await labels.write(changesOf(NODE_NAMES, { [A]: 'true' }), undefined, payerOf('shop'))).toEqual(new Map());
    expect(patches).toHaveLength(sent + NODE_NAMES.length);
  });

  it('writes the keys of others if one is refused, and patches the refused one alone until it is accepted', async () => {
    let isRefused = true;
    const { patches, labels } = writer((_, keys) =>
      isRefused && keys.includes(A) ? Promise.reject(status(422)) : undefined,
    );
    const write = (node: string) =>
      Promise.all([labels.write(changesOf([node], { [A]: 'true' })), labels.write(changesOf([node], { [B]: 'true' }))]);
    expect((await write('n1')).map((failures) => [...failures.keys()])).toEqual([['n1'], []]);
    expect(patches.splice(0)).toEqual([
      ['n1', { [A]: 'true', [B]: 'true' }],
      ['n1', { [A]: 'true' }],
      ['n1', { [B]: 'true' }],
    ]);
    expect((await write('n2')).map((failures) => [...failures.keys()])).toEqual([['n2'], []]);
    expect(patches.splice(0)).toEqual([
      ['n2', { [B]: 'true' }],
      ['n2', { [A]: 'true' }],
    ]);
    isRefused = false;
    await write('n3');
    expect(patches.splice(0)).toHaveLength(2);
    await write('n4');
    expect(patches).toEqual([['n4', { [A]: 'true', [B]: 'true' }]]);
  });
});
