// Package cloud is a cloud for sessions that a power cut does not reach. It records the
// requests of the workload, so that its content at a cut can be made again, and lets a
// device sync with that.
package cloud
