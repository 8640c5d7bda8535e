// Package reader reads the data that the workload wrote, as its users do.
package reader
