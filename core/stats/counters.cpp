#include "core/stats/counters.hpp"

namespace atl {
namespace {

using enum Counter;

constexpr std::array<CounterInfo, kCounters> kTable{{
    {warp_instructions, "warp.instructions", "instructions", "warp instructions issued"},
    {ctas, "sm.ctas", "CTAs", "CTAs completed"},
    {l1_accesses, "l1.accesses", "lines", "line accesses of loads presented to the L1"},
    {l1_sector_accesses, "l1.sector_accesses", "sectors", "sectors of loads, stores and atomics presented to the L1"},
    {l1_hits, "l1.hits", "lines", "line accesses of loads that found all their data in the L1"},
    {l1_merges, "l1.merges", "lines", "line accesses of loads that joined a pending miss of their line"},
    {l1_misses, "l1.misses", "lines", "line accesses of loads that began a new miss"},
    {l1_sector_misses, "l1.sector_misses", "sectors", "sectors that the L1 requested from below"},
    {l1_stores, "l1.stores", "lines", "line accesses of stores, written through"},
    {l1_store_sectors, "l1.store_sectors", "sectors", "sectors of stores, written through"},
    {l1_stalls, "l1.stalls", "events", "times the L1 could not take an access"},
    {llc_accesses, "llc.accesses", "requests", "requests looked up in a slice"},
    {llc_sector_accesses, "llc.sector_accesses", "sectors", "sectors of the requests looked up in a slice"},
    {llc_reads, "llc.reads", "requests", "reads looked up in a slice"},
    {llc_writes, "llc.writes", "requests", "writes looked up in a slice"},
    {llc_atomics, "llc.atomics", "requests", "atomics looked up in a slice"},
    {llc_hits, "llc.hits", "requests", "requests that found all their data in the slice"},
    {llc_merges, "llc.merges", "requests", "requests that joined a pending miss of their line"},
    {llc_misses, "llc.misses", "requests", "requests that began a new miss"},
    {llc_sector_misses, "llc.sector_misses", "sectors", "sectors that the slices requested from below"},
    {llc_bypasses, "llc.bypasses", "requests", "reads of other chips that passed the slice by"},
    {llc_writebacks, "llc.writebacks", "lines", "dirty lines written back"},
    {llc_writeback_sectors, "llc.writeback_sectors", "sectors", "dirty sectors read out of the slices to be written back"},
    {llc_stalls, "llc.stalls", "events", "times a slice could not take a request"},
    {llc_flushed_lines, "llc.flushed_lines", "lines", "lines invalidated at kernel boundaries and changes of organisation"},
    {llc_local_lines, "llc.local_lines", "lines", "lines of the own chip that the slices hold; added up at every sample"},
    {llc_remote_lines, "llc.remote_lines", "lines", "lines of other chips that the slices hold; added up at every sample"},
    {coherence_notices, "coherence.notices", "messages", "writes that a slice told the line's home about"},
    {coherence_invalidations, "coherence.invalidations", "messages", "invalidations sent to other chips"},
    {coherence_invalidation_hits, "coherence.invalidation_hits", "messages",
     "invalidations that found a copy, counted where it was"},
    {coherence_referrals, "coherence.referrals", "messages",
     "reads of slices that were sent on to another chip, the line's owner or its home"},
    {coherence_evict_invalidations, "coherence.evict_invalidations", "messages",
     "invalidations sent because the directory gave up an entry; the others because of a write"},
    {coherence_evict_invalidation_hits, "coherence.evict_invalidation_hits", "messages",
     "those of them that found a copy, counted where it was"},
    {coherence_invalidation_bytes, "coherence.invalidation_bytes", "bytes",
     "bytes of invalidations sent to other chips by this chip, forwarded ones included"},
    {directory_lookups, "directory.lookups", "requests",
     "remote reads and all writes that the home's directory was told of"},
    {directory_allocations, "directory.allocations", "entries", "entries that the directory began"},
    {directory_evictions, "directory.evictions", "entries", "valid entries given up for another"},
    {directory_evicted_lines, "directory.evicted_lines", "lines", "lines that these tracked"},
    {dram_reads, "dram.reads", "requests", "reads served by this chip's memory"},
    {dram_writes, "dram.writes", "requests", "writes served by this chip's memory"},
    {dram_read_bytes, "dram.read_bytes", "bytes", "bytes read from this chip's memory"},
    {dram_write_bytes, "dram.write_bytes", "bytes", "bytes written to this chip's memory"},
    {dram_row_hits, "dram.row_hits", "requests", "requests whose row was open"},
    {dram_row_misses, "dram.row_misses", "requests", "requests whose bank had no open row"},
    {dram_row_conflicts, "dram.row_conflicts", "requests", "requests whose bank had another row open"},
    {dram_bus_busy, "dram.bus_busy", "cycles", "core cycles in which a data bus moved data, summed over channels"},
    {noc_request_packets, "noc.request_packets", "packets", "packets on the request crossbar"},
    {noc_request_bytes, "noc.request_bytes", "bytes", "bytes on the request crossbar"},
    {noc_response_packets, "noc.response_packets", "packets", "packets on the response crossbar"},
    {noc_response_bytes, "noc.response_bytes", "bytes", "bytes on the response crossbar"},
    {noc_link_bytes, "noc.link_bytes", "bytes", "bytes between the chip's slices and its inter-chip ports, both ways"},
    {link_packets, "link.packets", "packets", "packets sent to other chips by this chip, forwarded ones included"},
    {link_bytes, "link.bytes", "bytes", "bytes sent to other chips by this chip, forwarded ones included"},
    {link_forwarded, "link.forwarded", "packets", "packets between two other chips that this chip passed on"},
    {link_received_bytes, "link.received_bytes", "bytes", "bytes that arrived from other chips, those passed on included"},
    {requests_local, "requests.local", "requests", "L1 misses whose home is this chip"},
    {requests_remote, "requests.remote", "requests", "L1 misses whose home is another chip"},
    {page_touches, "mmu.page_touches", "pages", "pages whose home this chip had to ask for"},
    {cluster_lookups, "cluster.lookups", "requests", "L1 read misses looked up in the ownership table of their cluster"},
    {cluster_table_hits, "cluster.table_hits", "requests", "look-ups that found another SM of the cluster as owner"},
    {cluster_table_misses, "cluster.table_misses", "requests", "look-ups that found no owner and went to the network"},
    {cluster_own_entries, "cluster.own_entries", "requests", "look-ups that found the requester, and went to the network"},
    {cluster_input_full, "cluster.input_full", "requests",
     "L1 read misses that found the table's input queue full and went to the network"},
    {cluster_access_full, "cluster.access_full", "requests",
     "table hits that found the owner's access queue full and went to the network"},
    {cluster_served, "cluster.served", "requests", "L1 read misses that the L1 of another SM answered"},
    {cluster_false_positives, "cluster.false_positives", "requests",
     "table hits that did not find the line in the owner's L1 and went to the network"},
    {cluster_false_negatives, "cluster.false_negatives", "requests",
     "look-ups without another owner although another L1 of the cluster held the line (observe.neighbours)"},
    {cluster_held, "cluster.held", "requests",
     "L1 read misses of which another L1 of the cluster held all sectors (observe.neighbours)"},
    {cluster_pending, "cluster.pending", "requests",
     "L1 read misses not held, but asked for already by another L1 of the cluster (observe.neighbours)"},
    {cluster_bytes, "cluster.bytes", "bytes", "data on the crossbars within the clusters"},
    {sm_port_stall, "sm.port_stall", "cycles",
     "a load-store unit waited for a place in its cluster's request port, summed over SMs"},
    {sm_reply_stall, "sm.reply_stall", "cycles",
     "a load-store unit waited for answers: no MSHR, merge place or store credit was free; summed over SMs"},
    {sm_issue_busy, "sm.issue_busy", "cycles", "cycles in which a warp scheduler issued, summed over schedulers"},
    {load_latency_cycles, "load.latency_cycles", "cycles",
     "a load's line presented to the L1 to its data, summed over completed loads"},
    {loads_completed, "load.completed", "loads", "loads whose data arrived"},
    {queue_looked, "queue.looked", "cycles", "cycles that the looks stand for that the counters queue.* come from"},
    {queue_l1_mshrs, "queue.l1_mshrs", "entry-cycles", "MSHRs in use of all L1s, times the cycles that a look stands for"},
    {queue_request, "queue.request", "packet-cycles", "... requests at ports of the request crossbar"},
    {queue_slice, "queue.slice", "packet-cycles", "... requests at inputs of LLC slices"},
    {queue_llc_mshrs, "queue.llc_mshrs", "entry-cycles", "... MSHRs in use of all LLC slices"},
    {queue_dram, "queue.dram", "packet-cycles", "... requests at memory controllers"},
    {queue_response, "queue.response", "packet-cycles",
     "... answers at outputs of LLC slices and at ports of the response crossbar"},
    {queue_link_out, "queue.link_out", "packet-cycles", "... packets that wait for a link, those passed on included"},
    {queue_link_in, "queue.link_in", "packet-cycles", "... packets that have arrived by a link, for this chip"},
}};

/// A row left out would leave the last one with id 0, so this also proves that the table is complete.
constexpr bool rows_stand_at_their_ids() {
  for (std::size_t i = 0; i < kCounters; ++i) {
    if (static_cast<std::size_t>(kTable[i].id) != i || kTable[i].name.empty()) return false;
  }
  return true;
}
static_assert(rows_stand_at_their_ids(), "the rows of the counter table must follow the order of enum Counter");

}  // namespace

std::span<const CounterInfo, kCounters> counter_table() { return kTable; }

}  // namespace atl
