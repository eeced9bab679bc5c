{{/* Names and labels that several templates share. */}}

{{- define "traffic-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* At most 52 characters: the longest suffix is "-placement" (10); names of Services have at most 63 characters, and pod names of the Job append 6 to "-cleanup" (8). */}}
{{- define "traffic-operator.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- $name := include "traffic-operator.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "traffic-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "traffic-operator.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* The account of the process for DNS weights. It is never "default", which other pods of the namespace have. */}}
{{- define "traffic-operator.weightsAccountName" -}}
{{- if and .Values.weights.enabled (not .Values.serviceAccount.create) (not .Values.weights.serviceAccount.name) }}
{{- fail "weights.enabled with serviceAccount.create=false needs an account for the process for DNS weights: set weights.serviceAccount.name to an existing ServiceAccount" }}
{{- end }}
{{- default (printf "%s-weights" (include "traffic-operator.fullname" .)) .Values.weights.serviceAccount.name }}
{{- end }}

{{/* Name of cluster-scoped objects. It contains the namespace, so that two releases never share one. */}}
{{- define "traffic-operator.clusterName" -}}
{{- if eq .Release.Namespace (include "traffic-operator.fullname" .) -}}
{{- include "traffic-operator.fullname" . }}
{{- else -}}
{{- printf "%s-%s" .Release.Namespace (include "traffic-operator.fullname" .) }}
{{- end }}
{{- end }}

{{/* Labels of the pods of a process: (list . "manager"). */}}
{{- define "traffic-operator.selectorLabelsOf" -}}
{{- $root := first . -}}
app.kubernetes.io/name: {{ include "traffic-operator.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ last . }}
{{- end }}

{{/* Labels of the pods of the manager. */}}
{{- define "traffic-operator.selectorLabels" -}}
{{- include "traffic-operator.selectorLabelsOf" (list . "manager") }}
{{- end }}

{{/* The processes that run controllers: a list with the name of the Deployment, of its account and of the Service for metrics. */}}
{{- define "traffic-operator.processes" -}}
{{- $name := include "traffic-operator.fullname" . -}}
- component: manager
  name: {{ $name }}
  account: {{ include "traffic-operator.serviceAccountName" . }}
  annotations: {{ toJson .Values.serviceAccount.annotations }}
  service: {{ $name }}-metrics
  replicas: {{ .Values.replicas }}
{{- if .Values.weights.enabled }}
- component: weights
  name: {{ $name }}-weights
  account: {{ include "traffic-operator.weightsAccountName" . }}
  annotations: {{ toJson .Values.weights.serviceAccount.annotations }}
  service: {{ $name }}-weights
  replicas: {{ .Values.weights.replicas }}
{{- end }}
{{- end }}

{{- define "traffic-operator.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/name: {{ include "traffic-operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: traffic-operator
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "traffic-operator.image" -}}
{{- with .Values.image }}
{{- if .digest }}
{{- printf "%s@%s" .repository .digest }}
{{- else }}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Labels of the pods of the deployed Prometheus, as in src/controllers/measurement/names.ts. */}}
{{- define "traffic-operator.prometheusSelector" -}}
app.kubernetes.io/name: prometheus
app.kubernetes.io/component: prometheus
app.kubernetes.io/instance: {{ .Release.Namespace }}
app.kubernetes.io/part-of: traffic-operator
{{- end }}

{{/* Namespace of node-exporter, as in src/controllers/measurement/names.ts. */}}
{{- define "traffic-operator.exporterNamespace" -}}
{{- printf "%s-node-exporter" .Release.Namespace }}
{{- end }}

{{- define "traffic-operator.hook" -}}
helm.sh/hook: pre-delete
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}
