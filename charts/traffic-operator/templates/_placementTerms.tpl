{{/* Generated from src/placement/policy.ts by `make generate`. Do not edit. */}}
{{- define "traffic-operator.placementTerms" -}}
matchConditions:
  - name: not-on-a-node-yet
    expression: "object.spec.?nodeName.orValue('') == ''"
  - name: may-be-selected
    expression: "size(params.spec.?others.orValue([])) > 0 || object.metadata.?labels.orValue({}).exists(key, key + '=' + object.metadata.labels[key] in params.spec.?byLabel.orValue({}))"
variables:
  - name: labels
    expression: "object.metadata.?labels.orValue({})"
  - name: found
    expression: "(variables.labels.map(key, params.spec.?byLabel[?(key + '=' + variables.labels[key])].orValue([])).flatten() + params.spec.?others.orValue([])).sort()"
  - name: matching
    expression: "variables.found.map(i, params.spec.entries[i]).filter(e, e.podSelector.?matchLabels.orValue({}).all(key, key in variables.labels && variables.labels[key] == e.podSelector.matchLabels[key]) && e.podSelector.?matchExpressions.orValue([]).all(x, x.operator == 'In' ? (x.key in variables.labels && variables.labels[x.key] in x.values) : x.operator == 'NotIn' ? !(x.key in variables.labels && variables.labels[x.key] in x.values) : x.operator == 'Exists' ? x.key in variables.labels : x.operator == 'DoesNotExist' && !(x.key in variables.labels)) && size(e.labelKey) <= 259 && e.labelKey.matches( '^([a-z0-9]([-a-z0-9]*[a-z0-9])?[.])+traffic[.]example[.]com/unfit$'))"
  - name: strict
    expression: "object.metadata.?ownerReferences.orValue([]).exists(o, o.kind == 'DaemonSet' && o.?controller.orValue(false)) ? [] : variables.matching"
  - name: required
    expression: "variables.strict.filter(e, e.placement == 'Required').map(e, e.labelKey).distinct()"
  - name: avoiding
    expression: "variables.strict.filter(e, e.placement == 'AtCreation' && size(e.?avoidedNodes.orValue([])) > 0)"
  - name: avoided
    expression: "variables.avoiding.map(e, e.labelKey).distinct()"
  - name: names
    expression: "variables.avoiding.map(e, e.avoidedNodes).distinct().flatten().distinct()"
  - name: notNamed
    expression: "variables.names.map(name, dyn({'key': dyn('metadata.name'), 'operator': dyn('NotIn'), 'values': dyn([name])}))"
  - name: newNode
    expression: "{'key': dyn('cluster-autoscaler.kubernetes.io/template-node'), 'operator': dyn('In'), 'values': dyn(['true'])}"
  - name: terms
    expression: "object.spec.?affinity.?nodeAffinity .?requiredDuringSchedulingIgnoredDuringExecution.?nodeSelectorTerms.orValue([])"
  - name: seen
    expression: "size(variables.terms) == 0 ? [{'expressions': dyn([]), 'fields': dyn([]), 'keys': dyn([]), 'names': dyn([]), 'isOpen': dyn(true)}] : variables.terms.map(t, { 'expressions': dyn(t.?matchExpressions.orValue([])), 'fields': dyn(t.?matchFields.orValue([])), 'keys': dyn(t.?matchExpressions.orValue([]).filter(e, e.operator == 'NotIn' && e.values == ['true']).map(e, e.key)), 'names': dyn(t.?matchFields.orValue([]).filter(f, f.operator == 'NotIn').map(f, f.values[0])), 'isOpen': dyn((size(t.?matchExpressions.orValue([])) > 0 || size(t.?matchFields.orValue([])) > 0) && !t.?matchExpressions.orValue([]).exists(e, e.key == variables.newNode.key && e.operator == 'In'))})"
  - name: changes
    expression: "variables.seen.map(s, {'term': dyn(s), 'required': dyn(s.isOpen ? variables.required.filter(key, !(key in s.keys)) : []), 'avoided': dyn(s.isOpen && !variables.names.all(name, name in s.names) ? variables.avoided.filter(key, !(key in s.keys)) : [])})"
  - name: newTerms
    expression: "variables.changes.map(c, dyn({ 'matchFields': dyn(c.term.fields + (size(c.avoided) > 0 ? variables.notNamed : [])), 'matchExpressions': dyn(c.term.expressions + c.required.map(key, dyn({'key': dyn(key), 'operator': dyn('NotIn'), 'values': dyn(['true'])})))})) + variables.changes.filter(c, size(c.required) > 0 && !c.term.keys.exists(key, key.endsWith('.traffic.example.com/unfit'))).map(c, dyn({ 'matchFields': dyn(c.term.fields), 'matchExpressions': dyn(c.term.expressions + [dyn(variables.newNode)])})) + variables.changes.filter(c, size(c.avoided) > 0).map(c, dyn({ 'matchFields': dyn(c.term.fields), 'matchExpressions': dyn(c.term.expressions + (c.required + c.avoided).map(key, dyn({'key': dyn(key), 'operator': dyn('NotIn'), 'values': dyn(['true'])})))}))"
  - name: preferred
    expression: "object.spec.?affinity.?nodeAffinity.?preferredDuringSchedulingIgnoredDuringExecution.orValue([])"
  - name: isPreferred
    expression: "variables.preferred.filter(p, p.weight == 100 && size(p.preference.?matchExpressions.orValue([])) == 1 && p.preference.matchExpressions[0].operator == 'NotIn').map(p, p.preference.matchExpressions[0].key)"
  - name: newPreferred
    expression: "variables.matching.filter(e, e.placement != 'Required' && !(e.labelKey in variables.isPreferred)) .map(e, e.labelKey).distinct()"
  - name: addsRequired
    expression: "variables.changes.exists(c, size(c.required) > 0 || size(c.avoided) > 0)"
  - name: parents
    expression: "(!has(object.spec.affinity) ? ['/spec/affinity', '/spec/affinity/nodeAffinity'] : !has(object.spec.affinity.nodeAffinity) ? ['/spec/affinity/nodeAffinity'] : [])"
mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: "(variables.addsRequired || size(variables.newPreferred) > 0 ? variables.parents.map(path, JSONPatch{op: 'add', path: path, value: {}}) : []) + (variables.addsRequired ? [JSONPatch{op: 'add', path: '/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution', value: {'nodeSelectorTerms': variables.newTerms}}] : []) + (size(variables.newPreferred) > 0 ? [JSONPatch{op: 'add', path: '/spec/affinity/nodeAffinity/preferredDuringSchedulingIgnoredDuringExecution', value: variables.preferred.map(p, dyn(p)) + variables.newPreferred.map(key, dyn({'weight': dyn(100), 'preference': dyn({'matchExpressions': [dyn({'key': dyn(key), 'operator': dyn('NotIn'), 'values': dyn(['true'])})]})}))}] : [])"
{{- end -}}
