import type { V1Node } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { stateOf, whyNeverMeasured } from './notMeasurable.ts';
import { realNodes, virtualMark } from './virtualNodes.ts';

interface Marks {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  taint?: string;
}

function node({ labels, annotations, taint }: Marks): V1Node {
  return {
    metadata: { name: 'a', labels: { 'kubernetes.io/os': 'linux', ...labels }, annotations: { ...annotations } },
    spec: {
      taints:
        taint === undefined
          ? []
          : [{ key: taint.split('=')[0] ?? '', value: taint.split('=')[1], effect: 'NoSchedule' }],
    },
  };
}

/** As the scheduler decides: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#operators */
function isChosen(labels: Record<string, string> = {}): boolean {
  const required = realNodes().nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const expressions = required?.nodeSelectorTerms.flatMap(({ matchExpressions = [] }) => matchExpressions) ?? [];
  expect(expressions).not.toEqual([]);
  return expressions.every(({ key, operator, values = [] }) => {
    const value = labels[key];
    if (operator === 'DoesNotExist') return value === undefined;
    expect(operator).toBe('NotIn');
    return value === undefined || !values.includes(value);
  });
}

describe('virtual nodes', () => {
  it.each<{ why: string; marks: Marks; mark: string | undefined; runs: boolean }>([
    { why: 'a node', marks: { labels: { type: 'compute' } }, mark: undefined, runs: true },
    {
      why: 'a node of EKS Auto Mode',
      marks: { labels: { 'eks.amazonaws.com/compute-type': 'auto' } },
      mark: undefined,
      runs: true,
    },
    {
      why: 'a node that Liqo uses for its own pods',
      marks: { labels: { 'liqo.io/type': 'gateway' } },
      mark: undefined,
      runs: true,
    },
    {
      why: 'EKS Fargate by its label',
      marks: { labels: { 'eks.amazonaws.com/compute-type': 'fargate' } },
      mark: 'eks.amazonaws.com/compute-type',
      runs: false,
    },
    {
      why: 'EKS Fargate by its taint alone',
      marks: { taint: 'eks.amazonaws.com/compute-type=fargate' },
      mark: 'eks.amazonaws.com/compute-type',
      runs: true,
    },
    {
      why: 'a virtual kubelet, also of AKS and Admiralty',
      marks: { labels: { type: 'virtual-kubelet' } },
      mark: 'type',
      runs: false,
    },
    {
      why: 'the label of Admiralty',
      marks: { labels: { 'virtual-kubelet.io/provider': 'admiralty' } },
      mark: 'virtual-kubelet.io/provider',
      runs: false,
    },
    {
      why: 'a virtual kubelet by its taint alone',
      marks: { taint: 'virtual-kubelet.io/provider=azure' },
      mark: 'virtual-kubelet.io/provider',
      runs: true,
    },
    {
      why: 'virtual nodes of AKS, second version',
      marks: { labels: { virtualization: 'virtualnode2' } },
      mark: 'virtualization',
      runs: false,
    },
    { why: 'Liqo', marks: { labels: { 'liqo.io/type': 'virtual-node' } }, mark: 'liqo.io/type', runs: false },
    {
      why: 'Liqo by its taint alone',
      marks: { taint: 'virtual-node.liqo.io/not-allowed=true' },
      mark: 'virtual-node.liqo.io/not-allowed',
      runs: true,
    },
    {
      why: 'interLink',
      marks: { labels: { 'virtual-node.interlink/type': 'virtual-kubelet' } },
      mark: 'virtual-node.interlink/type',
      runs: false,
    },
    {
      why: 'interLink by its taint alone',
      marks: { taint: 'virtual-node.interlink/no-schedule=true' },
      mark: 'virtual-node.interlink/no-schedule',
      runs: true,
    },
    {
      why: 'Alibaba ECI',
      marks: { labels: { 'k8s.aliyun.com/vnode': 'true' } },
      mark: 'k8s.aliyun.com/vnode',
      runs: false,
    },
    {
      why: 'a super node of Tencent',
      marks: { labels: { 'node.kubernetes.io/instance-type': 'eklet' } },
      mark: 'node.kubernetes.io/instance-type',
      runs: false,
    },
    {
      why: 'a virtual node of OKE',
      marks: { labels: { 'node-role.kubernetes.io/virtual-node': '' } },
      mark: 'node-role.kubernetes.io/virtual-node',
      runs: false,
    },
    { why: 'KWOK by its usual label', marks: { labels: { type: 'kwok' } }, mark: 'type', runs: false },
    {
      why: 'KWOK by the label',
      marks: { labels: { 'kwok.x-k8s.io/node': 'fake' } },
      mark: 'kwok.x-k8s.io/node',
      runs: false,
    },
    {
      why: 'KWOK by its annotation alone',
      marks: { annotations: { 'kwok.x-k8s.io/node': 'fake' } },
      mark: 'kwok.x-k8s.io/node',
      runs: true,
    },
    {
      why: 'KWOK by its taint alone',
      marks: { taint: 'kwok.x-k8s.io/node=fake' },
      mark: 'kwok.x-k8s.io/node',
      runs: true,
    },
  ])('$why: mark $mark, DaemonSets run there: $runs', ({ marks, mark, runs }) => {
    const whole = node(marks);
    expect(virtualMark(whole)).toBe(mark);
    expect(isChosen(whole.metadata?.labels)).toBe(runs);
    const why = stateOf(whole).neverMeasured;
    expect(why?.reason).toBe(mark === undefined ? undefined : 'NotMeasurable');
    expect(why?.message ?? '').toContain(mark ?? '');
    // The cache may have only metadata.
    expect(whyNeverMeasured(whole.metadata)).toBe(marks.taint === undefined ? why : undefined);
  });

  it('tells of a node that is neither real nor Linux that it is virtual', () => {
    const labels = { 'kubernetes.io/os': 'virtual-kubelet', 'virtual-node.interlink/type': 'virtual-kubelet' };
    expect(whyNeverMeasured({ labels })?.message).toContain('virtual-node.interlink/type');
  });
});
