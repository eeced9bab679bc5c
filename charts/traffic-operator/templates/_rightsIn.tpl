{{/*
Rights that the operator has only in some namespaces: a ClusterRole, and a RoleBinding in each of them. Takes a list: the root
context, the end of the names, the name of the rights in _rights.tpl, the namespaces.
*/}}
{{- define "traffic-operator.rightsIn" }}
{{- $root := index . 0 }}
{{- $name := printf "%s-%s" (include "traffic-operator.clusterName" $root) (index . 1) }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ $name }}
  labels:
    {{- include "traffic-operator.labels" $root | nindent 4 }}
rules:
  {{- include (printf "traffic-operator.rights.%s" (index . 2)) $root | nindent 2 }}
{{- range index . 3 | uniq }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ $name }}
  namespace: {{ . }}
  labels:
    {{- include "traffic-operator.labels" $root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ $name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "traffic-operator.serviceAccountName" $root }}
    namespace: {{ $root.Release.Namespace }}
{{- end }}
{{- end }}

{{- /* Rights on the kinds of objects that stacks may have: (list . verbs). */}}
{{- define "traffic-operator.objectKindRights" -}}
{{- $verbs := index . 1 }}
{{- range (index . 0).Values.stacks.objectKinds }}
- apiGroups: ['{{ if contains "/" .apiVersion }}{{ splitList "/" .apiVersion | first }}{{ end }}']
  resources: ['{{ .resource }}']
  verbs: {{ toJson $verbs }}
{{- end }}
{{- end }}

{{- /* The rights to write the objects of stacks. */}}
{{- define "traffic-operator.rights.stackObjects" -}}
{{- include "traffic-operator.rights.stacks.namespaces" . }}
{{- include "traffic-operator.objectKindRights" (list . (list "create" "patch" "delete")) }}
{{- end }}
