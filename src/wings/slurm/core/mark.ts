/** A job with this variable has programs that expect the variables of Slurm. */
export const SLURM_MARK = 'WEFT_SLURM';

/** The path of the script that sbatch was given; empty: none was. */
export const SCRIPT = 'WEFT_SLURM_SCRIPT';
