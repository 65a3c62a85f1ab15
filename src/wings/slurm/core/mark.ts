/** A job with this variable has programs that expect the variables of Slurm. */
export const SLURM_MARK = 'WEFT_SLURM';
