package telemetry

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// instruments are the metrics that calls and syncs add to.
type instruments struct {
	duration, sessionSyncs     metric.Float64Histogram
	written, syncs, recoveries metric.Int64Counter
	sent, segments, requests   metric.Int64Counter
	units                      metric.Float64Counter
}

// make makes the instruments and returns the gauge of the backlog.
func (i *instruments) make(m metric.Meter) (metric.Int64ObservableGauge, error) {
	var failed error
	seconds := func(name, about string) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(about),
			metric.WithExplicitBucketBoundaries(.0001, .0005, .001, .002, .005, .01, .05, .1, .5, 1, 5, 10, 60))
		failed = errors.Join(failed, err)
		return h
	}
	count := func(name, unit, about string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(about))
		failed = errors.Join(failed, err)
		return c
	}
	i.duration = seconds("sessionstorage.store.duration", "calls of the store")
	i.written = count("sessionstorage.store.written", "By", "bytes written to files")
	i.syncs = count("sessionstorage.store.syncs", "{sync}", "files and directories synced")
	i.recoveries = count("sessionstorage.store.recoveries", "{file}", "loads that read a backup")
	i.sessionSyncs = seconds("sessionstorage.sync.duration", "syncs of sessions")
	i.sent = count("sessionstorage.sync.sent", "By", "bytes of documents sent")
	i.segments = count("sessionstorage.sync.segments", "{document}", "segments stored")
	i.requests = count("sessionstorage.sync.requests", "{request}", "requests to the remote")
	units, err := m.Float64Counter("sessionstorage.sync.request_units", metric.WithUnit("{RU}"), metric.WithDescription("request units spent"))
	i.units = units
	failed = errors.Join(failed, err)
	gauge, err := m.Int64ObservableGauge("sessionstorage.sync.backlog", metric.WithUnit("{session}"), metric.WithDescription("sessions that are not in step"))
	return gauge, errors.Join(failed, err)
}
