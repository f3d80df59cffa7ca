{{/* A Job that runs a program of the image: argument (dict "root" "name" "job" "args" "env" "files"). */}}
{{- define "creditlane.job" -}}
{{- $root := .root }}
{{- $pod := include "creditlane.jobPod" . }}
---
apiVersion: batch/v1
kind: Job
metadata:
  # A Job cannot be changed, so that another image or configuration makes another Job.
  name: {{ printf "%s-%s" (include "creditlane.fullname" $root) .name | trunc 54 }}-{{ sha256sum $pod | trunc 8 }}
  labels:
    {{- include "creditlane.labels" $root | nindent 4 }}
    creditlane/job: {{ .job }}
  {{- if eq $root.Values.migrations.by "hook" }}
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
    # Databases and topics first.
    helm.sh/hook-weight: {{ ternary "0" "-5" (eq .job "migrations") | quote }}
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
  {{- end }}
spec:
  # A failure, such as that of a server that is not there yet, is tried again for some twenty minutes.
  backoffLimit: 8
  {{- if eq $root.Values.migrations.by "hook" }}
  # A hook that failed remains. Any other Job must remain, or a tool that renders the chart anew makes it again.
  ttlSecondsAfterFinished: 86400
  {{- end }}
  template:
    {{- $pod | nindent 4 }}
{{- end }}

{{- define "creditlane.jobPod" -}}
metadata:
  labels:
    {{- include "creditlane.selector" .root | nindent 4 }}
    creditlane/job: {{ .job }}
spec:
  # The pods that failed remain, with their logs.
  restartPolicy: Never
  {{- include "creditlane.podSecurity" .root | nindent 2 }}
  {{- with include "creditlane.placement" .root.Values.defaults }}
  {{- trim . | nindent 2 }}
  {{- end }}
  containers:
    - name: {{ .job }}
      {{- include "creditlane.container" .root | nindent 6 }}
      args: {{ toJson .args }}
      {{- with .env }}
      env:
        {{- . | nindent 8 }}
      {{- end }}
      resources:
        {{- include "creditlane.jobResources" .root | nindent 8 }}
      {{- if .files }}
      volumeMounts:
        {{- include "creditlane.secretMount" .root | nindent 8 }}
      {{- end }}
  {{- if .files }}
  volumes:
    {{- include "creditlane.secretVolume" .files | nindent 4 }}
  {{- end }}
{{- end }}
