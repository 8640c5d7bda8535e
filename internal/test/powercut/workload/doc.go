// Package workload calls the store and notes what it acknowledged.
package workload
