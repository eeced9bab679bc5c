import { LABEL_KEY_SUFFIX, TEMPLATE_NODE_LABEL } from '../api/trafficwatch/label.ts';

/**
 * How a pod gets the node affinity of the TrafficWatches that select it, as CEL. It is the only description: the chart
 * renders it as a MutatingAdmissionPolicy, which the API server evaluates, and podTerms evaluates it for the webhook.
 *
 * `object` is the pod, `params` the PodPlacement of its namespace, `variables` the ones below. Expressions may use an earlier
 * variable only. CEL needs one type in lists and maps: hence dyn().
 */
export interface NamedExpression {
  readonly name: string;
  readonly expression: string;
}

/** The end of each label key as a part of a regular expression, without the first dot. */
const SUFFIX_PATTERN = LABEL_KEY_SUFFIX.slice(1).replaceAll('.', '[.]');

/** CEL of the requirement that a node does not have the label. @param key CEL of the label key */
const notUnfit = (key: string): string =>
  `dyn({'key': dyn(${key}), 'operator': dyn('NotIn'), 'values': dyn(['true'])})`;

/** A pod that does not meet all of them is left alone. */
export const MATCH_CONDITIONS: readonly NamedExpression[] = named({
  // Static pods and those that name their node are not scheduled. Their kubelet would reject them for a required term.
  'not-on-a-node-yet': `object.spec.?nodeName.orValue('') == ''`,
  // Others need no conversion of the pod.
  'may-be-selected': `size(params.spec.?others.orValue([])) > 0 || object.metadata.?labels.orValue({}).exists(key,
    key + '=' + object.metadata.labels[key] in params.spec.?byLabel.orValue({}))`,
});

export const VARIABLES: readonly NamedExpression[] = named({
  labels: `object.metadata.?labels.orValue({})`,
  // Positions of the entries with a selector that one label of the pod meets, and of those that are indexed by no label.
  // Sorted: the order of the labels is another in each evaluation, and equal pods get equal terms.
  found: `(variables.labels.map(key, params.spec.?byLabel[?(key + '=' + variables.labels[key])].orValue([])).flatten()
    + params.spec.?others.orValue([])).sort()`,
  // A key that is no label key would make the API server refuse the pod.
  matching: `variables.found.map(i, params.spec.entries[i]).filter(e,
    e.podSelector.?matchLabels.orValue({}).all(key,
    key in variables.labels && variables.labels[key] == e.podSelector.matchLabels[key])
    && e.podSelector.?matchExpressions.orValue([]).all(x,
    x.operator == 'In' ? (x.key in variables.labels && variables.labels[x.key] in x.values) :
    x.operator == 'NotIn' ? !(x.key in variables.labels && variables.labels[x.key] in x.values) :
    x.operator == 'Exists' ? x.key in variables.labels :
    x.operator == 'DoesNotExist' && !(x.key in variables.labels))
    && size(e.labelKey) <= 259 && e.labelKey.matches(
    '^([a-z0-9]([-a-z0-9]*[a-z0-9])?[.])+${SUFFIX_PATTERN}$'))`,
  // Each pod of a DaemonSet belongs to one node: a required term would keep it Pending.
  strict: `object.metadata.?ownerReferences.orValue([]).exists(o, o.kind == 'DaemonSet' && o.?controller.orValue(false)) ?
    [] : variables.matching`,
  // Label keys that each term must exclude.
  required: `variables.strict.filter(e, e.placement == 'Required').map(e, e.labelKey).distinct()`,
  // With AtCreation: entries with nodes that are unfit now, the label keys, and the names of the nodes. Most entries have
  // the same list, so the lists are compared before the names.
  avoiding: `variables.strict.filter(e, e.placement == 'AtCreation' && size(e.?avoidedNodes.orValue([])) > 0)`,
  avoided: `variables.avoiding.map(e, e.labelKey).distinct()`,
  names: `variables.avoiding.map(e, e.avoidedNodes).distinct().flatten().distinct()`,
  // A requirement of a field takes one value.
  notNamed: `variables.names.map(name,
    dyn({'key': dyn('metadata.name'), 'operator': dyn('NotIn'), 'values': dyn([name])}))`,
  // cluster-autoscaler simulates a new node with the labels of a real one, which may be unfit, and adds this label. No
  // real node has it.
  newNode: `{'key': dyn('${TEMPLATE_NODE_LABEL}'), 'operator': dyn('In'), 'values': dyn(['true'])}`,
  terms: `object.spec.?affinity.?nodeAffinity
    .?requiredDuringSchedulingIgnoredDuringExecution.?nodeSelectorTerms.orValue([])`,
  // The terms with the label keys and the names of nodes that they exclude. Without terms, every node matches. Terms that
  // match no node, without expressions and fields, and those for simulated nodes are unchanged.
  seen: `size(variables.terms) == 0 ? [{'expressions': dyn([]), 'fields': dyn([]), 'keys': dyn([]), 'names': dyn([]),
    'isOpen': dyn(true)}] : variables.terms.map(t, {
    'expressions': dyn(t.?matchExpressions.orValue([])),
    'fields': dyn(t.?matchFields.orValue([])),
    'keys': dyn(t.?matchExpressions.orValue([]).filter(e, e.operator == 'NotIn' && e.values == ['true']).map(e, e.key)),
    'names': dyn(t.?matchFields.orValue([]).filter(f, f.operator == 'NotIn').map(f, f.values[0])),
    'isOpen': dyn((size(t.?matchExpressions.orValue([])) > 0 || size(t.?matchFields.orValue([])) > 0)
    && !t.?matchExpressions.orValue([]).exists(e, e.key == variables.newNode.key && e.operator == 'In'))})`,
  // The label keys that each term lacks: of Required, and of AtCreation unless the term excludes each name.
  changes: `variables.seen.map(s, {'term': dyn(s),
    'required': dyn(s.isOpen ? variables.required.filter(key, !(key in s.keys)) : []),
    'avoided': dyn(s.isOpen && !variables.names.all(name, name in s.names) ?
    variables.avoided.filter(key, !(key in s.keys)) : [])})`,
  // Terms are ORed. Each gets twins:
  //   for simulated nodes, unless it already excludes a label key: then it has one;
  //   with AtCreation, for nodes that are fit again. A name excludes its node for good: the kubelet of any other node
  //   accepts the pod whatever becomes of its label. A pod that is still Pending may go to such a node by the twin.
  newTerms: `variables.changes.map(c, dyn({
    'matchFields': dyn(c.term.fields + (size(c.avoided) > 0 ? variables.notNamed : [])),
    'matchExpressions': dyn(c.term.expressions + c.required.map(key, ${notUnfit('key')}))}))
    + variables.changes.filter(c, size(c.required) > 0
    && !c.term.keys.exists(key, key.endsWith('${LABEL_KEY_SUFFIX}'))).map(c, dyn({
    'matchFields': dyn(c.term.fields), 'matchExpressions': dyn(c.term.expressions + [dyn(variables.newNode)])}))
    + variables.changes.filter(c, size(c.avoided) > 0).map(c, dyn({
    'matchFields': dyn(c.term.fields), 'matchExpressions': dyn(c.term.expressions
    + (c.required + c.avoided).map(key, ${notUnfit('key')}))}))`,
  preferred: `object.spec.?affinity.?nodeAffinity.?preferredDuringSchedulingIgnoredDuringExecution.orValue([])`,
  isPreferred: `variables.preferred.filter(p, p.weight == 100 && size(p.preference.?matchExpressions.orValue([])) == 1
    && p.preference.matchExpressions[0].operator == 'NotIn').map(p, p.preference.matchExpressions[0].key)`,
  newPreferred: `variables.matching.filter(e, e.placement != 'Required' && !(e.labelKey in variables.isPreferred))
    .map(e, e.labelKey).distinct()`,
  addsRequired: `variables.changes.exists(c, size(c.required) > 0 || size(c.avoided) > 0)`,
  // A patch cannot add a field to an object that is missing.
  parents: `(!has(object.spec.affinity) ? ['/spec/affinity', '/spec/affinity/nodeAffinity'] :
    !has(object.spec.affinity.nodeAffinity) ? ['/spec/affinity/nodeAffinity'] : [])`,
});

/**
 * The operations of the patch. One expression for all placements: the API server converts the pod for each mutation, also for
 * an empty patch.
 *
 * @param add CEL of one operation, from CEL of its path and of its value
 */
export function patchExpression(add: (path: string, value: string) => string): string {
  const affinity = '/spec/affinity/nodeAffinity';
  return oneLine(`(variables.addsRequired || size(variables.newPreferred) > 0 ?
    variables.parents.map(path, ${add('path', '{}')}) : [])
    + (variables.addsRequired ? [${add(
      `'${affinity}/requiredDuringSchedulingIgnoredDuringExecution'`,
      `{'nodeSelectorTerms': variables.newTerms}`,
    )}] : [])
    + (size(variables.newPreferred) > 0 ? [${add(
      `'${affinity}/preferredDuringSchedulingIgnoredDuringExecution'`,
      `variables.preferred.map(p, dyn(p)) + variables.newPreferred.map(key, dyn({'weight': dyn(100),
      'preference': dyn({'matchExpressions': [${notUnfit('key')}]})}))`,
    )}] : [])`);
}

function named(expressions: Record<string, string>): NamedExpression[] {
  return Object.entries(expressions).map(([name, text]) => ({ name, expression: oneLine(text) }));
}

/** Joins the lines as YAML's folded style does. */
function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ');
}
