{{/* What the pods of the manager and of the clean-up share. It meets the Pod Security level restricted. On OpenShift it
has no IDs: the SCC restricted-v2 assigns IDs of the range of the namespace, and refuses others. */}}
{{- define "traffic-operator.pod" -}}
# The ServiceAccount disables the token mount for other pods.
automountServiceAccountToken: true
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  {{- if ne (include "traffic-operator.openshift" .) "true" }}
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  {{- end }}
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "traffic-operator.container" -}}
image: {{ include "traffic-operator.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  - name: POD_NAME
    valueFrom:
      fieldRef:
        fieldPath: metadata.name
  - name: POD_NAMESPACE
    valueFrom:
      fieldRef:
        fieldPath: metadata.namespace
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  capabilities:
    drop: [ALL]
  readOnlyRootFilesystem: true
{{- end }}
