{{/* KEDA: as many replicas as the events that wait need. Argument (list $ $name $service $fullname). */}}
{{- define "creditlane.scaledObject" -}}
{{- $root := index . 0 }}{{- $name := index . 1 }}{{- $service := index . 2 }}{{- $fullname := index . 3 }}
{{- $kafka := $root.Values.kafka }}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ $fullname }}
  labels:
    {{- include "creditlane.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ $name }}
spec:
  scaleTargetRef: { name: {{ $fullname }} }
  minReplicaCount: {{ $service.autoscaling.minReplicas }}
  maxReplicaCount: {{ $service.autoscaling.maxReplicas }}
  triggers:
    {{- range $service.consumes }}
    - type: kafka
      metadata:
        bootstrapServers: {{ join "," $kafka.brokers | quote }}
        consumerGroup: {{ $kafka.prefix }}{{ $name }}
        topic: {{ $kafka.prefix }}{{ . }}
        lagThreshold: {{ $service.autoscaling.lag | quote }}
      {{- if or $kafka.tls (ne $kafka.saslMechanism "none") }}
      authenticationRef: { name: {{ $fullname }} }
      {{- end }}
    {{- end }}
{{- if or $kafka.tls (ne $kafka.saslMechanism "none") }}
{{- $secret := $service.secretName | default (printf "%s-%s" (include "creditlane.secretPrefix" $root) $name) }}
{{- /* As the pods read it: from the values' Secret, or the service's name. */}}
{{- $username := dict "secret" (printf "%s-keda" $fullname) "key" "username" }}
{{- $inSecret := get ($service.secretFiles | default dict) "KAFKA_SASL_USERNAME" }}
{{- if $inSecret }}{{ $username = $inSecret }}{{ end }}
---
{{- /* sasl, username and tls are no secrets, but KEDA takes them from a Secret only. */}}
apiVersion: v1
kind: Secret
metadata:
  name: {{ $fullname }}-keda
  labels:
    {{- include "creditlane.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ $name }}
stringData:
  sasl: {{ dict "plain" "plaintext" "scram-sha-256" "scram_sha256" "scram-sha-512" "scram_sha512" | dig $kafka.saslMechanism "none" }}
  {{- if not $inSecret }}
  username: {{ $name }}
  {{- end }}
  tls: {{ ternary "enable" "disable" $kafka.tls }}
---
apiVersion: keda.sh/v1alpha1
kind: TriggerAuthentication
metadata:
  name: {{ $fullname }}
  labels:
    {{- include "creditlane.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ $name }}
spec:
  secretTargetRef:
    - { parameter: sasl, name: {{ $fullname }}-keda, key: sasl }
    - { parameter: tls, name: {{ $fullname }}-keda, key: tls }
    {{- if ne $kafka.saslMechanism "none" }}
    - { parameter: username, name: {{ $username.secret }}, key: {{ $username.key }} }
    - { parameter: password, name: {{ $secret }}, key: KAFKA_SASL_PASSWORD }
    {{- end }}
    {{- if and $kafka.tls $kafka.caSecret }}
    - { parameter: ca, name: {{ $kafka.caSecret }}, key: ca.crt }
    {{- end }}
{{- end }}
{{- end }}
