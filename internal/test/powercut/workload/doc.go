// Package workload calls the store and notes the acknowledgements.
package workload
