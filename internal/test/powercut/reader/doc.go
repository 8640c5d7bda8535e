// Package reader looks at what the workload wrote, as its users do.
package reader
